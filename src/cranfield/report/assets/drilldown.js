// Behind a number: the rankings of a topic, the labels of an item, pictures.
function imageOf(id, images) {
  if (!images) return null;
  if (!images.at) images.at = new Map(images.items.map((item, i) => [item, i]));
  const place = images.at.get(id);
  if (place === undefined) return null;
  const scale = images.scale;
  const box = el("span", { class: "image", role: "img", "aria-label": `picture of ${id}` });
  const [column, row] = [place % images.columns, Math.floor(place / images.columns)];
  box.style.width = `${images.width * scale}px`;
  box.style.height = `${images.height * scale}px`;
  box.style.backgroundImage = `url(${images.source})`;
  box.style.backgroundSize = `${images.sheet[0] * scale}px ${images.sheet[1] * scale}px`;
  box.style.backgroundPosition = `-${column * images.width * scale}px -${row * images.height * scale}px`;
  return box;
}

function verdictOf(grade) {
  if (grade === null) return ["unjudged", "not judged"];
  return grade > 0 ? ["relevant", `grade ${grade}`] : ["not", `grade ${grade}`];
}

function topicPanel(section, at, images) {
  const topic = section.units.topic[at];
  const values = section.measures.filter((m) => m.unit === "topic" && section.values[m.name]);
  const rows = valueRows(section, values, at);
  const columns = [{ label: "run" }, ...values.map((m) => measureColumn(m, m.name))];
  const parts = [el("h4", {}, "Topic ", name(topic))];
  const shown = images && images.topics[topic];
  if (shown) parts.push(el("p", {}, imageOf(shown, images) || "", " what the topic asks for"));
  parts.push(table("Scores of this topic", columns, rows, { kind: "topic-scores" }));
  const found = section.rankings && section.rankings.topics[at];
  if (!found) return [...parts, el("p", { class: "note" }, "The rankings of this topic are not in this file.")];
  parts.push(el("p", {}, `${section.rankings.how}. ${found.relevant} items are relevant to this topic. `
    + "Framed: relevant (the grade beside it); dotted: not judged; struck through: judged not relevant."));
  const lists = section.runs.map((run, i) => rankingRow(run, found.runs[i], section.rankings.items, images));
  const head = el("tr", {}, el("th", { scope: "col" }, "run"), el("th", { scope: "col" }, "relevant shown"), el("th", { scope: "col" }, "ranked, best first"));
  const grid = el("table", { class: "rankings" }, el("caption", {}, "What each run ranked where"), el("thead", {}, head), el("tbody", {}, lists));
  parts.push(cue(el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "What each run ranked where" }, grid)));
  return parts;
}

function rankingRow(run, list, items, images) {
  const good = list.filter(([, grade]) => grade !== null && grade > 0).length;
  const entries = list.map(([item, grade], k) => {
    const [kind, said] = verdictOf(grade);
    const text = `rank ${k + 1}: ${items[item].slice(0, 200)}, ${said}`;
    const image = imageOf(items[item], images);
    if (image) image.setAttribute("aria-label", text);
    const inside = image || el("span", { class: "name" }, brief(items[item], 18));
    const mark = grade !== null && grade > 0 ? el("sub", {}, String(grade)) : null;
    return el("li", { class: kind, title: text }, inside, mark, image ? null : el("span", { class: "hidden" }, `, ${said}`));
  });
  const inside = entries.length ? el("ol", { class: "ranking" }, entries) : "nothing for this topic";
  return el("tr", {}, el("th", { scope: "row" }, name(run)), el("td", { class: "n", "data-value": good }, `${good} of ${list.length}`), el("td", {}, inside));
}

function valueRows(section, measures, at) {
  const known = new Set(measures.flatMap((m) => section.values[m.name].runs));
  return section.runs.map((run, i) => [run, i]).filter(([, i]) => known.has(i)).map(([run, i]) => [run,
    ...measures.map((m) => {
      const place = section.values[m.name].runs.indexOf(i);
      return place < 0 ? null : section.values[m.name].rows[place][at];
    })]);
}

function itemPanel(section, at, runAt, images) {
  const all = section.explanations;
  const one = all.found[at].runs[runAt];
  const concept = (j) => all.concepts[j];
  const truth = new Set(all.found[at].truth);
  const predicted = new Set(one.predicted);
  const confidence = new Map(one.confidences || []);
  const broken = new Map();
  one.broken.forEach(([j, rule]) => broken.set(j, [...(broken.get(j) || []), rule]));
  const union = [...new Set([...truth, ...predicted])];
  const rows = union.map((j) => [concept(j), truth.has(j) ? "yes" : "no", predicted.has(j) ? "yes" : "no",
    confidence.has(j) ? confidence.get(j) : null,
    truth.has(j) && predicted.has(j) ? "right" : truth.has(j) ? "missed" : "wrong", (broken.get(j) || []).join("; ")]);
  const columns = [{ label: "concept" }, { label: "true" }, { label: "predicted" },
    { label: "confidence", numeric: true }, { label: "verdict", draw: (v) => el("span", { class: `verdict ${v}` }, v) }, { label: "broken rule", draw: (v) => el("span", { class: "wrap" }, v) }];
  const parts = [el("h4", {}, "Item ", name(all.items[at]), " in ", name(section.runs[runAt]))];
  const image = imageOf(all.items[at], images);
  if (image) parts.push(el("p", {}, image));
  parts.push(table("Labels of this item", columns, rows, { kind: "item-labels" }));
  const values = Object.entries(one.values).map(([measure, value]) => [measure, value]);
  if (values.length) parts.push(table("Scores of this item", [{ label: "measure" }, { label: "value", numeric: true }], values, { kind: "item-scores" }));
  one.derivations.forEach((d) => {
    const steps = d.steps.map(([label, role, partners, cost, agreement, counts]) =>
      [concept(label), role, partners.map(concept).join(" or ") || null, cost, agreement, counts]);
    const heads = [{ label: "label" }, { label: "role" }, { label: "matched with" },
      ...["cost", "agreement", "counts"].map((label) => ({ label, numeric: true }))];
    if (steps.length) parts.push(table(`How ${d.measure} comes about`, heads, steps));
    parts.push(el("p", { class: "arithmetic" }, d.arithmetic));
  });
  return parts;
}

// The boxes of a run on an item: how each is drawn says what it is.
const BOX_LOOKS = {
  "right": ["good", ""], "misplaced": ["near", "7 4"], "wrong concept": ["bad", ""], "wrong concept, misplaced": ["bad", "7 4"],
  "double": ["near", "2 3"], "nothing there": ["bad", "2 3"], "ignored": ["quiet", "2 3"], "missed": ["lost", "10 4"],
};

function boxMark(kind, [x, y, width, height], words) {
  const [hue, dash] = BOX_LOOKS[kind];
  const shape = { x, y, width, height, "vector-effect": "non-scaling-stroke" };
  return svg("g", { class: `box ${hue}` }, svg("title", {}, words), svg("rect", { ...shape, class: "halo" }), svg("rect", { ...shape, "stroke-dasharray": dash || null }));
}

function boxPanel(section, at, runAt, hidden, change) {
  const all = section.drawn;
  const one = all.items[at];
  const run = one.runs[runAt];
  const [width, height] = one.size;
  const rows = run.boxes.map(([concept, x, y, w, h, sure, kind]) => ({ concept: all.concepts[concept], box: [x, y, w, h], sure, kind: all.kinds[kind] }));
  const missed = new Set(run.missed);
  one.truth.forEach(([concept, x, y, w, h], k) => { if (missed.has(k)) rows.push({ concept: all.concepts[concept], box: [x, y, w, h], sure: null, kind: "missed" }); });
  const drawn = rows.filter((r) => !hidden.has(r.kind));
  const words = (r) => `${r.concept}: ${r.kind}${r.sure === null ? "" : `, confidence ${show(r.sure, 3)}`}`;
  const letter = Math.max(width, height) / 32;
  const picture = svg("svg", { class: "boxes", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${one.item}: ${rows.length} boxes of ${section.runs[runAt]}` },
    svg("rect", { x: 0, y: 0, width, height, class: "ground" }),
    one.picture ? [svg("image", { href: one.picture, x: 0, y: 0, width, height, preserveAspectRatio: "none" })] : [],
    one.truth.filter((t, k) => !missed.has(k)).map(([concept, x, y, w, h, flags]) => svg("g", { class: "box truth" }, svg("title", {}, `truth: ${all.concepts[concept]}${flags ? " (wants nothing: crowd or difficult)" : ""}`),
      svg("rect", { x, y, width: w, height: h, "vector-effect": "non-scaling-stroke" }))),
    drawn.map((r) => boxMark(r.kind, r.box, words(r))),
    drawn.filter((r) => r.kind !== "right").map((r) => svg("text", { class: `box-name ${BOX_LOOKS[r.kind][0]}`, x: Math.max(0, r.box[0]), y: Math.max(letter, r.box[1] - letter / 4), "font-size": letter }, r.kind === "missed" ? `missed: ${r.concept}` : r.concept)));
  const counts = new Map();
  rows.forEach((r) => counts.set(r.kind, (counts.get(r.kind) || 0) + 1));
  const legend = el("div", { class: "legend", role: "group", "aria-label": "What is drawn" }, all.kinds.filter((kind) => counts.get(kind)).map((kind) => {
    const [hue, dash] = BOX_LOOKS[kind];
    const sample = svg("svg", { viewBox: "0 0 28 16", width: 28, height: 16, "aria-hidden": "true" }, boxMark(kind, [2, 2, 24, 12], kind));
    const tick = el("input", { type: "checkbox", checked: !hidden.has(kind), onchange: (e) => change(kind, e.target.checked) });
    return el("label", { class: `kind ${hue}`, "data-dash": dash }, tick, sample, `${kind} (${counts.get(kind)})`);
  }), el("span", { class: "kind" }, svg("svg", { viewBox: "0 0 28 16", width: 28, height: 16, "aria-hidden": "true" }, svg("g", { class: "box truth" }, svg("rect", { x: 2, y: 2, width: 24, height: 12 }))), "truth"));
  const columns = [{ label: "concept" }, { label: "is", draw: (v) => el("span", { class: `verdict ${BOX_LOOKS[v][0]}` }, v) }, { label: "confidence", numeric: true, digits: 3 },
    ...["x", "y", "width", "height"].map((label) => ({ label, numeric: true, digits: 1 }))];
  return [el("h4", {}, "Item ", name(one.item), one.file && one.file !== one.item ? ` (${one.file})` : "", " in ", name(section.runs[runAt])),
    legend, cue(el("div", { class: "picture", tabindex: "0", role: "group", "aria-label": "The boxes on the picture" }, picture)),
    el("details", {}, el("summary", {}, "The same as a table"), table(`Boxes that are at least ${all.least} sure, and missed ones`, columns, rows.map((r) => [r.concept, r.kind, r.sure, ...r.box])))];
}
