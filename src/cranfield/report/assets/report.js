// The page: each part of the report with its choices, charts, tables and drill-down.

function measureColumn(measure, label) {
  const best = { true: "max", false: "min" }[String(measure.higher_is_better)];
  return { label, numeric: true, digits: measure.digits, best };
}

function bestFirst(section, measure) {
  const means = section.means[measure.name];
  const sign = measure.higher_is_better === false ? 1 : -1;
  return section.runs.map((_, i) => i).sort((a, b) => {
    if (means[a] === null || means[b] === null) return compareCells(means[a], means[b]);
    return sign * (means[a] - means[b]) || a - b;
  });
}

function lettersOf(group) {
  return [...(group || "")];
}

function span(ends) {
  return ends[0] === null ? null : ends[0] === ends[1] ? String(ends[0]) : `${ends[0]}-${ends[1]}`;
}

function leaderboardPart(section, measure) {
  const order = bestFirst(section, measure);
  const ends = section.intervals[measure.name] || [];
  const places = section.standings[measure.name] || [];
  const doubts = (section.doubts || {})[measure.name] || [];
  const rows = order.map((i) => ({
    doubt: doubts[i] || [null, null, null, null],
    run: section.runs[i], mean: section.means[measure.name][i],
    low: ends[i] ? ends[i][0] : null, high: ends[i] ? ends[i][1] : null,
    rank: places[i] ? places[i][0] : null, letters: places[i] ? lettersOf(places[i][1]) : [],
    group: places[i] ? places[i][1] : null, places: places[i] ? places[i].slice(2, 4) : [null, null],
    place: places[i] ? places[i][4] : null, spread: places[i] ? places[i].slice(5, 7) : [null, null],
  }));
  const lettered = rows.some((r) => r.group);
  const share = `${Number((100 * section.confidence).toPrecision(6))} %`;
  const marks = lettered ? " Two runs have no mark in the same column exactly when they differ significantly." : "";
  const told = places.length ? ` Shaded: not significantly worse than the best.${marks}` : "";
  const unsure = doubts.length ? ` Three lines in a row, from above: topics, both, truth. ${section.interval_parts}` : "";
  const caption = `${measure.mean_name}: means and ${share} intervals.${unsure}${told}`;
  const further = doubts.length ? ["truth low", "truth high", "both low", "both high"].map((label) => ({ label, numeric: true })) : [];
  const columns = [{ label: "run" }, measureColumn(measure, measure.mean_name), { label: "low", numeric: true }, { label: "high", numeric: true }, ...further,
    { label: "place", numeric: true, digits: 0 }, { label: "rank", numeric: true, digits: 0 },
    { label: "spread", draw: (v) => v || "-" }, ...(lettered ? [{ label: "group", draw: (v) => v || "-" }] : [])];
  const twin = table(caption, columns, rows.map((r) => [r.run, r.mean, r.low, r.high, ...(doubts.length ? r.doubt : []), r.place, r.rank,
    span(r.spread), ...(lettered ? [r.group] : [])]), { kind: "standings" });
  const shown = rows.slice(0, 60);
  const drawn = drawChart(leaderboardModel(shown, measure.mean_name, caption, measure.range));
  const said = shown.length < rows.length ? `${caption} The first ${shown.length} of ${rows.length} runs are drawn.` : caption;
  return figure(said, drawn, twin);
}

function meansTable(section) {
  const columns = [{ label: "run" }, ...section.measures.map((m) => measureColumn(m, m.mean_name)), { label: `${section.unit}s`, numeric: true, digits: 0 }];
  const rows = bestFirst(section, section.measures[0]).map((i) => [section.runs[i], ...section.measures.map((m) => section.means[m.name][i]), section.evaluated[i]]);
  return table("All runs under all measures; the best of each column is bold. Click a heading to sort.", columns, rows, { kind: "means" });
}

// The tested pair of a run against another, the difference being run minus baseline.
function pairOf(section, measure, run, baseline) {
  for (const [a, b, ...rest] of section.pairs[measure.name] || []) {
    const [difference, low, high, p, corrected] = rest;
    if (a === run && b === baseline) return { difference, low, high, p, corrected };
    // A one-tailed test says nothing of the other direction.
    if (b === run && a === baseline && section.tail !== "one") {
      const turn = (v) => (v === null ? null : v === 0 ? 0 : -v);
      return { difference: turn(difference), low: turn(high), high: turn(low), p, corrected };
    }
  }
  return null;
}

function baselinePart(section, measure, baseline) {
  const means = section.means[measure.name];
  const parts = [];
  const rows = bestFirst(section, measure).filter((i) => i !== baseline).map((i) => {
    const pair = pairOf(section, measure, i, baseline);
    const plain = means[i] === null || means[baseline] === null ? null : means[i] - means[baseline];
    return pair ? [section.runs[i], pair.difference, pair.low, pair.high, pair.p, pair.corrected, stars(pair.corrected)]
      : [section.runs[i], plain, null, null, null, null, ""];
  });
  const columns = [{ label: "run" }, ...["difference", "low", "high"].map((label) => ({ label, numeric: true })),
    { label: "p", numeric: true, format: showP }, { label: "p corrected", numeric: true, format: showP }, { label: "sig." }];
  parts.push(table(`${measure.mean_name}: each run minus ${brief(section.runs[baseline])}`, columns, rows, { kind: "baseline" }));
  if (rows.some((r) => r[4] === null)) {
    parts.push(el("p", { class: "note" }, "Where no p-value stands, the pair was not tested; the difference is then that of the means."));
  }
  return parts;
}

function significancePart(section, measure) {
  const tested = section.pairs[measure.name] || [];
  const order = bestFirst(section, measure);
  if (tested.length < 2 || order.length > 40) return null;
  const place = new Map(order.map((run, i) => [run, i]));
  const cells = new Map();
  const rows = [];
  const add = (a, b) => {
    const pair = pairOf(section, measure, a, b);
    if (!pair || pair.difference === null) return;
    const mark = stars(pair.corrected);
    const text = `${section.runs[a].slice(0, 100)} minus ${section.runs[b].slice(0, 100)}: ${show(pair.difference)}, p corrected ${showP(pair.corrected)}`;
    cells.set(`${place.get(a)},${place.get(b)}`, { value: pair.difference, text: mark, tip: text, good: measure.higher_is_better === false ? -1 : 1 });
    rows.push([section.runs[a], section.runs[b], pair.difference, pair.corrected, mark]);
  };
  tested.forEach(([a, b]) => { add(a, b); add(b, a); });
  const caption = `${measure.mean_name}: the run of the row minus the run of the column. Blue: the row is better, orange: worse; * p < 0.05, ** p < 0.01, *** p < 0.001 after correction.`;
  const columns = [{ label: "row" }, { label: "column" }, { label: "difference", numeric: true }, { label: "p corrected", numeric: true, format: showP }, { label: "sig." }];
  return figure(caption, drawChart(significanceModel(order.map((i) => section.runs[i]), cells, measure, caption)), table(caption, columns, rows));
}

function perUnitParts(section, measure, state, open, redraw) {
  const kept = section.values[measure.name];
  if (!kept) return [];
  const names = section.units[measure.unit];
  const order = bestFirst(section, measure).filter((i) => kept.runs.includes(i));
  const rowOf = (i) => kept.rows[kept.runs.indexOf(i)];
  const caption = `${measure.name} of every ${measure.unit}; the stronger the colour, the higher.` + (open[measure.unit] ? ` Click a cell to open the ${measure.unit}.` : "");
  const choose = (j) => open[measure.unit] && open[measure.unit](j);
  const drawn = names.slice(0, 400);
  const heatRows = order.slice(0, 40).map((i) => ({ name: section.runs[i], values: rowOf(i).slice(0, 400) }));
  const opener = { label: measure.unit, draw: (v) => (open[measure.unit]
    ? el("button", { type: "button", class: "link", onclick: () => open[measure.unit](names.indexOf(v)) }, brief(v, 40)) : name(v)) };
  const columns = [opener, ...order.map((i) => ({ label: brief(section.runs[i]), numeric: true, digits: measure.digits }))];
  const twin = table(`${measure.name} of every ${measure.unit}`, columns, names.map((n, j) => [n, ...order.map((i) => rowOf(i)[j])]), { kind: "units", most: 200 });
  const all = names.length > drawn.length ? ` The first ${drawn.length} of ${names.length} are drawn.` : "";
  const parts = [figure(caption + all, drawChart(heatModel(heatRows, drawn, measure, caption), open[measure.unit] ? (m) => choose(m.x) : null), twin)];
  if (order.includes(state.baseline) && order.length > 1) parts.push(differencePart(section, measure, state, order, rowOf, names, choose, redraw));
  if (measure.unit === "concept" && section.frequency) parts.push(conceptPart(section, measure, order, rowOf, names));
  return parts;
}

function differencePart(section, measure, state, order, rowOf, names, choose, redraw) {
  const run = order.includes(state.run) && state.run !== state.baseline ? state.run : order.find((i) => i !== state.baseline);
  const [a, b] = [rowOf(run), rowOf(state.baseline)];
  const gaps = names.map((n, j) => ({ name: n, j, value: a[j] === null || b[j] === null ? null : a[j] - b[j] }))
    .filter((g) => g.value !== null).sort((x, y) => y.value - x.value);
  const good = measure.higher_is_better === false ? (v) => v < 0 : (v) => v > 0;
  const caption = `${measure.name}: ${brief(section.runs[run])} minus ${brief(section.runs[state.baseline])}, ${measure.unit} by ${measure.unit}`;
  const drawn = gaps.length > 400 ? [...gaps.slice(0, 200), ...gaps.slice(-200)] : gaps;
  const said = drawn.length < gaps.length ? `${caption}: the 200 largest and the 200 smallest of ${gaps.length}` : caption;
  const model = barModel(drawn.map((g) => ({ name: g.name, value: g.value, style: good(g.value) ? "good" : "bad" })), measure.unit, `difference in ${measure.name}`, caption);
  const chart = drawChart(model, (m) => choose(drawn[m.x].j));
  const twin = table(caption, [{ label: measure.unit }, { label: "difference", numeric: true }], gaps.map((g) => [g.name, g.value]), { kind: "differences" });
  const pick = select("Run", order.filter((i) => i !== state.baseline).map((i) => [String(i), section.runs[i]]), String(run), (v) => redraw({ run: Number(v) }));
  return el("div", {}, pick, figure(said, chart, twin));
}

function conceptPart(section, measure, order, rowOf, names) {
  const best = order[0];
  const sign = measure.higher_is_better === false ? 1 : -1;
  const bars = names.map((n, j) => ({ name: n, value: rowOf(best)[j], style: "accent", tick: section.frequency[j] }))
    .sort((x, y) => (x.value === null || y.value === null ? compareCells(x.value, y.value) : sign * (x.value - y.value)));
  const caption = `${measure.name} of every concept, ${brief(section.runs[best])} (the best by its mean); lines: the share of items that have the concept`;
  const columns = [{ label: "concept" }, { label: measure.name, numeric: true }, { label: "frequency", numeric: true }];
  return figure(caption, drawChart(barModel(bars.slice(0, 120), "concept", `${measure.name}, and frequency (lines)`, caption)), table(caption, columns, bars.map((b) => [b.name, b.value, b.tick])));
}

function curveParts(section) {
  const parts = [];
  if (section.recall) {
    const { levels, curves } = section.recall;
    const caption = "Precision at eleven levels of recall, with 95 % bands (Student's t)";
    const rows = curves.flatMap((c) => levels.map((l, k) => [c.run, l, c.mean[k], c.low[k], c.high[k]]));
    const columns = [{ label: "run" }, { label: "recall", numeric: true, digits: 1 }, ...["precision", "low", "high"].map((label) => ({ label, numeric: true }))];
    parts.push(figure(caption, drawChart(section.charts.recall), table(caption, columns, rows)));
  }
  if (section.box_curves) {
    const numeric = (label) => ({ label, numeric: true });
    const recall = "Precision against recall of boxes at an overlap of 0.5, mean over concepts";
    const recallRows = section.box_curves.map((c) => [c.run, c.precision]);
    parts.push(figure(recall, drawChart(section.charts.box_recall), table(recall, [{ label: "run" }, numeric("average precision")], recallRows)));
    const errors = "Localisation recall precision error by the confidence from which boxes count; the dots are the least errors";
    const parted = "The least error of every run, and what it is made of";
    const columns = [{ label: "run" }, ...["confidence", "error", "badly placed", "wrong boxes", "missed"].map(numeric)];
    const errorRows = section.box_curves.map((c) => [c.run, c.confidence, c.error, c.misplaced, c.wrong, c.missed]);
    parts.push(figure(errors, drawChart(section.charts.box_errors), table(parted, columns, errorRows)));
  }
  if (section.roc && section.roc.length) {
    const caption = "ROC over all items and concepts pooled; the dots are the points of equal error";
    const columns = [{ label: "run" }, { label: "pooled EER", numeric: true }, { label: "pooled AUC", numeric: true }];
    parts.push(figure(caption, drawChart(section.charts.roc), table(caption, columns, section.roc.map((c) => [c.run, c.eer, c.auc]))));
  }
  return parts;
}

function scatterParts(section, measure, state, redraw) {
  const parts = [];
  const others = section.measures.filter((m) => m !== measure);
  if (others.length && section.runs.length > 1) {
    const other = others.find((m) => m.name === state.other) || others[0];
    const points = section.runs.map((run, i) => ({ name: run, x: section.means[measure.name][i], y: section.means[other.name][i] }));
    const caption = `${other.mean_name} against ${measure.mean_name}: do two measures agree?`;
    const pick = select("Second measure", others.map((m) => [m.name, m.mean_name]), other.name, (v) => redraw({ other: v }));
    const columns = [{ label: "run" }, measureColumn(measure, measure.mean_name), measureColumn(other, other.mean_name)];
    parts.push(el("div", {}, pick, figure(caption, drawChart(scatterModel(points, measure.mean_name, other.mean_name, caption)), table(caption, columns, points.map((p) => [p.name, p.x, p.y])))));
  }
  if (section.density) {
    const points = section.runs.map((run, i) => ({ name: run, x: section.density.runs[i], y: section.means[measure.name][i] }));
    const caption = `${measure.mean_name} against label density; the broken line is the density of the truth (${show(section.density.truth)})`;
    const columns = [{ label: "run" }, { label: "label density", numeric: true }, measureColumn(measure, measure.mean_name)];
    parts.push(figure(caption, drawChart(scatterModel(points, "label density (broken line: the truth)", measure.mean_name, caption, section.density.truth)), table(caption, columns, points.map((p) => [p.name, p.x, p.y]))));
  }
  return parts;
}

function methodsPart(section) {
  const parts = [el("h3", {}, "What was computed"), ...section.methods.map((text) => el("p", {}, text))];
  if (section.left_out.length) parts.push(el("h3", {}, "What is not in this file"), el("ul", {}, section.left_out.map((text) => el("li", {}, text))));
  if (section.sources.length) {
    parts.push(el("h3", {}, "What to cite"), el("ul", {}, section.sources.map((s) => el("li", {}, `${s.measures}: ${s.text}`))));
    parts.push(el("details", {}, el("summary", {}, "BibTeX"), el("pre", { tabindex: "0" }, section.sources.map((s) => s.bibtex).join("\n\n"))));
  }
  return el("div", { class: "methods" }, parts);
}

// Positions of topics (items), first those on which no run does well under the first measure that speaks of them.
function hardestFirst(section, kind, names) {
  const plain = names.map((_, i) => i);
  const measure = section.measures.find((m) => m.unit === kind && section.values[m.name]);
  if (!measure || names.length !== (section.units[kind] || []).length) return plain;
  const lower = measure.higher_is_better === false;
  const best = plain.map((j) => {
    const known = section.values[measure.name].rows.map((row) => row[j]).filter((v) => v !== null);
    return known.length ? (lower ? -Math.min(...known) : Math.max(...known)) : Infinity;
  });
  return plain.sort((a, b) => best[a] - best[b] || a - b);
}

function drillParts(section, state, redraw) {
  const holder = el("div", { class: "drill" });
  const open = {};
  const pickers = {};
  function panel(kind, label, names, draw, extra) {
    const inside = el("div", { class: "panel", "aria-live": "polite" });
    const heading = el("h3", { tabindex: "-1" }, label);
    const order = hardestFirst(section, kind, names);
    const choice = select(kind === "boxes" ? "Choose the item" : `Choose the ${kind}`, order.slice(0, 2000).map((i) => [String(i), names[i]]), String(state[kind]), (v) => fill(Number(v)));
    function fill(at) {
      state[kind] = at;
      choice.querySelector("select").value = String(at);
      inside.replaceChildren(...draw(at));
    }
    pickers[kind] = fill;
    open[kind] = (at) => { if (at < names.length) { fill(at); heading.focus(); heading.scrollIntoView(); } };
    holder.append(el("div", { class: `drill-${kind}` }, heading, choice, extra || "", inside));
    if (kind === "topic") state[kind] = order[0] || 0;
    fill(state[kind]);
  }
  if (section.units.topic) panel("topic", "One topic", section.units.topic, (at) => topicPanel(section, at, data.images));
  if (section.explanations) {
    const pick = select("Run", section.runs.map((r, i) => [String(i), r]), String(state.itemRun), (v) => { state.itemRun = Number(v); pickers.item(state.item); });
    panel("item", "One item", section.explanations.items, (at) => itemPanel(section, at, state.itemRun, data.images), pick);
  }
  if (section.drawn && section.drawn.items.length) {
    const hidden = new Set();
    const change = (kind, shown) => { hidden[shown ? "delete" : "add"](kind); pickers.boxes(state.boxes); };
    const pick = select("Run", section.runs.map((r, i) => [String(i), r]), String(state.itemRun), (v) => { state.itemRun = Number(v); pickers.boxes(state.boxes); });
    panel("boxes", "Boxes of one item", section.drawn.items.map((one) => one.file || one.item), (at) => boxPanel(section, at, state.itemRun, hidden, change), pick);
  }
  return { holder, open, redraw };
}

function scoreSection(section, body) {
  const named = section.runs.indexOf(section.baseline);
  const state = { measure: section.measures[0].name, baseline: named, run: -1, other: "", topic: 0, item: 0, boxes: 0, itemRun: 0 };
  const views = el("div");
  const drill = drillParts(section, state);
  function redraw(change) {
    Object.assign(state, change);
    const measure = section.measures.find((m) => m.name === state.measure);
    const parts = [el("div", { class: "pair" }, leaderboardPart(section, measure), significancePart(section, measure))];
    if (state.baseline >= 0 && section.runs.length > 1) parts.push(el("h3", {}, "Against the baseline"), ...baselinePart(section, measure, state.baseline));
    const single = perUnitParts(section, measure, state, drill.open, redraw);
    if (single.length) parts.push(el("h3", {}, `Every ${measure.unit}`), ...single);
    const pairs = scatterParts(section, measure, state, redraw);
    if (pairs.length) parts.push(el("h3", {}, "Measure against measure"), ...pairs);
    views.replaceChildren(...parts.filter((p) => p));
    nameHeadings(body);
  }
  // Which run is the baseline is for the reader to choose, unless the command said it.
  const bases = [...(named < 0 ? [["-1", "none"]] : []), ...section.runs.map((r, i) => [String(i), r])];
  const tools = el("div", { class: "tools", role: "group", "aria-label": `${section.title}: what to show` },
    select("Measure", section.measures.map((m) => [m.name, m.mean_name]), state.measure, (v) => redraw({ measure: v })),
    section.runs.length > 1 ? select("Baseline", bases, String(state.baseline), (v) => redraw({ baseline: Number(v) })) : null);
  if (section.left_out.length) body.append(el("p", { class: "note" }, `Left out of this file: ${section.left_out.join(" ")}`));
  if (section.verdict.length) body.append(el("div", { class: "lead" }, section.verdict.map((text) => el("p", {}, text))));
  body.append(meansTable(section), ...section.notes.map((n) => el("p", { class: "note" }, n)), tools, views);
  const curves = curveParts(section);
  if (curves.length) body.append(el("h3", {}, "Curves"), ...curves);
  body.append(drill.holder, methodsPart(section));
  redraw({});
}

function tableSection(section, body) {
  section.tables.forEach((t) => {
    const columns = t.columns.map((c) => ({ label: c.label, numeric: c.numeric, digits: c.digits,
      format: c.below ? showP : null }));
    body.append(table(t.title || section.title, columns, t.rows), ...t.notes.map((n) => el("p", { class: "note" }, n)));
  });
  body.append(...section.notes.map((n) => el("p", { class: "note" }, n)));
}

// Headings that the contents lead to keep their names when a part is drawn anew.
function nameHeadings(body) {
  body.querySelectorAll("h3").forEach((h) => { h.id = `${body.id}-${h.textContent.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`; });
}

const main = document.getElementById("report");
data.sections.forEach((section, i) => {
  const id = `part-${i + 1}`;
  const body = el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, section.title));
  main.append(body);
  (section.kind === "scores" ? scoreSection : tableSection)(section, body);
  nameHeadings(body);
  const nav = document.getElementById("nav");
  nav.append(el("a", { href: `#${id}` }, section.title));
  body.querySelectorAll("h3").forEach((h) => nav.append(el("a", { class: "sub", href: `#${h.id}` }, h.textContent)));
});
document.documentElement.dataset.ready = "yes";
