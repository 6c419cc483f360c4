// Models of the charts that depend on what a reader chooses, in the terms of
// cranfield.report.charts.model; charts.js draws them.
function chartModel(title, x, y, layers, more = {}) {
  return { title, description: title, panels: [{ x, layers: layers.filter((l) => l.marks.length) }], y, ...more };
}

// rows: {run, mean, low, high, rank, letters: [..]}, the best first.
// The interval of a run; where the truth is a part of it three lines: topics, both, truth.
function intervalRules(r, k) {
  const [truthLow, truthHigh, bothLow, bothHigh] = r.doubt || [];
  const rule = (low, high, y, what, width) => (isKnown(low, high) ? [{ x0: low, y0: y, x1: high, y1: y, width, said: `${r.run}${what}: ${show(low)} to ${show(high)}` }] : []);
  if (!isKnown(bothLow, bothHigh)) return rule(r.low, r.high, k, "", 1.5);
  return [...rule(r.low, r.high, k - 0.25, ", topics", 1), ...rule(bothLow, bothHigh, k, ", both", 2), ...rule(truthLow, truthHigh, k + 0.25, ", truth", 1)];
}

function leaderboardModel(rows, name, title, range) {
  const said = (r) => `${r.run}: ${show(r.mean)}${r.rank === null ? "" : `, rank ${r.rank}`}`;
  const layers = [
    { kind: "region", marks: rows.flatMap((r, k) => (r.rank === 1 ? [{ y0: k - 0.5, y1: k + 0.5 }] : [])) },
    { kind: "rule", marks: rows.flatMap(intervalRules) },
    { kind: "dot", marks: rows.map((r, k) => ({ x: r.mean, y: k, said: said(r) })) },
  ];
  const model = chartModel(title, { title: name, domain: range }, { names: rows.map((r) => r.run) }, layers);
  const letters = [...new Set(rows.flatMap((r) => r.letters))];
  const cells = rows.flatMap((r, k) => r.letters.map((x) => ({ x: letters.indexOf(x), y: k, style: "group", said: `${r.run}: group ${x}` })));
  if (letters.length) model.panels.push({ x: { title: "cannot be told apart", names: letters, top: true }, layers: [{ kind: "cell", marks: cells }], share: 0.2 });
  return model;
}

// cells: Map "row,column" -> {value, text, tip}.
function significanceModel(names, cells, measure, title) {
  const marks = [...cells].map(([key, c]) => {
    const [y, x] = key.split(",").map(Number);
    return { x, y, value: c.value, text: c.text, said: c.tip };
  });
  const most = marks.reduce((a, m) => Math.max(a, Math.abs(m.value)), 0) || 1;
  const ramp = { title: "difference", low: -most, high: most, kind: "gap", reverse: measure.higher_is_better === false };
  return chartModel(title, { names }, { names }, [{ kind: "cell", marks }], { ramp });
}

// rows: [{name, values}], columns: names.
function heatModel(rows, columns, measure, title) {
  const marks = rows.flatMap((r, y) => r.values.map((value, x) => ({ x, y, value, said: `${r.name}, ${columns[x]}: ${show(value)}` })));
  const values = marks.map((m) => m.value).filter((v) => isKnown(v));
  const ramp = { title: measure.name, low: values.length ? values.reduce((a, b) => Math.min(a, b)) : 0, high: values.length ? values.reduce((a, b) => Math.max(a, b)) : 1 };
  return chartModel(title, namedColumns(measure.unit, columns), { names: rows.map((r) => r.name) }, [{ kind: "cell", marks }], { ramp });
}

function namedColumns(title, names) {
  return names.length > SIZE.MOST_NAMES ? { title: `${title} (${names.length})`, names, shown: false } : { title, names };
}

// bars: [{name, value, style, tick}] in the order given.
function barModel(bars, unit, yTitle, title) {
  const layers = [
    { kind: "bar", marks: bars.map((b, x) => ({ x, value: b.value, style: b.style, said: `${b.name}: ${show(b.value)}` + (b.tick === undefined ? "" : `; frequency ${show(b.tick)}`) })) },
    { kind: "rule", marks: bars.flatMap((b, x) => (b.tick === undefined ? [] : [{ x0: x - 0.4, y0: b.tick, x1: x + 0.4, y1: b.tick, width: 2 }])) },
    { kind: "rule", marks: [{ y0: 0, y1: 0, width: 1 }] },
  ];
  return chartModel(title, namedColumns(unit, bars.map((b) => b.name)), { title: yTitle }, layers);
}

// points: [{name, x, y}]; rule: an x to mark.
function scatterModel(points, xTitle, yTitle, title, rule = null) {
  const layers = [
    { kind: "rule", marks: rule === null ? [] : [{ x0: rule, x1: rule, dashed: true, said: `truth: ${show(rule)}` }] },
    { kind: "dot", marks: points.map((p) => ({ x: p.x, y: p.y, label: p.name, said: `${p.name}: ${show(p.x)}, ${show(p.y)}` })) },
  ];
  return chartModel(title, { title: xTitle }, { title: yTitle }, layers);
}
