// The marks and legends of a chart, and the chart as a whole.
function corners(m, frame, layout) {
  const at = (v, scale, edge) => (v === null || v === undefined ? edge : scale(v));
  return [at(m.x0, frame.x, frame.left), at(m.y0, layout.y, layout.bottom), at(m.x1, frame.x, frame.right), at(m.y1, layout.y, layout.top)];
}

// Where the label of each dot [x, y, width] covers nothing: ring by ring around it, or nowhere.
function placeLabels(dots, [left, top, right, bottom]) {
  const taken = dots.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]);
  return dots.map(([x, y, width]) => {
    if (!width) return null;
    const tries = [[x + 8, y + 4, false], [x - 8 - width, y + 4, false], [x - width / 2, y - 9, false], [x - width / 2, y + 18, false]];
    for (let ring = 20; ring < SIZE.FARTHEST; ring += 12) {
      for (const side of [1, -1]) for (const rise of [0.35, -0.35, 0.8, -0.8]) tries.push([side > 0 ? x + ring * 0.9 : x - ring * 0.9 - width, y + 4 + ring * rise, true]);
      tries.push([x - width / 2, y - ring, true], [x - width / 2, y + ring + 8, true]);
    }
    const found = tries.find(([a, base]) => {
      const box = [a - 3, base - 10, a + width + 3, base + 3];
      return box[0] >= left && box[1] >= top && box[2] <= right && box[3] <= bottom
        && !taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3]);
    });
    if (!found) return null;
    taken.push([found[0] - 3, found[1] - 10, found[0] + width + 3, found[1] + 3]);
    return found;
  });
}

function drawDots(dots, frame, layout) {
  const [x, y] = [frame.x, layout.y];
  const shown = dots.filter((d) => isKnown(d.x, d.y));
  const parts = [];
  if (shown.length <= SIZE.MOST_LABELLED) {
    const texts = shown.map((d) => cut(d.label || "", SIZE.NAME * 0.7));
    const places = placeLabels(shown.map((d, k) => [x(d.x), y(d.y), textWidth(texts[k])]), [frame.left, layout.top - 6, layout.width, layout.bottom + 6]);
    places.forEach((place, k) => {
      if (!place) return;
      const [left, base, led] = place;
      const end = left > x(shown[k].x) ? left : left + textWidth(texts[k]);
      if (led) parts.push(stroke(`M${x(shown[k].x)} ${y(shown[k].y)}L${end} ${base - 4}`, "quiet", 0.7));
      parts.push(words(left, base, texts[k], "start", "ink", shown[k].label));
    });
  }
  return [...parts, ...shown.map((d) => markerOf(d.style === undefined ? "accent" : d.style, x(d.x), y(d.y), d.said))];
}

function drawCell(m, k, model, x, y, choose) {
  if (!m.style && !isKnown(m.value)) return [];
  const style = m.style || stepOf(model.ramp, m.value);
  const box = svg("rect", { class: `f-${className(style)}${choose ? " choose" : ""}`, x: x(m.x) - x.step / 2, y: y(m.y) - y.step / 2,
    width: x.step - (x.step > 8 ? 1 : 0), height: y.step - (y.step > 8 ? 1 : 0), ...(choose ? { onclick: () => choose(m, k) } : {}) });
  const found = [tip(box, m.said)];
  if (m.text) found.push(words(x(m.x), y(m.y) + 4, m.text, "middle", m.style ? "ink" : `${style}t`));
  return found;
}

function drawBar(m, k, x, y, choose) {
  if (!isKnown(m.value)) return [];
  const wide = x.step < 12 ? Math.max(x.step - 1, 1.5) : x.step * 0.86;
  const [a, b] = [y(0), y(m.value)];
  const box = svg("rect", { class: `f-${className(m.style === undefined ? "accent" : m.style)}${choose ? " choose" : ""}`, x: x(m.x) - wide / 2, width: wide,
    y: Math.min(a, b), height: Math.max(Math.abs(a - b), 0.5), ...(choose ? { onclick: () => choose(m, k) } : {}) });
  return [tip(box, m.said)];
}

function drawLine(m, x, y) {
  const points = m.points.filter((p) => isKnown(...p));
  const style = m.style === undefined ? 0 : m.style;
  if (!points.length) return [];
  const line = stroke(through(points, x, y), style, m.width || 2, m.dashed ? "4 4" : dashOf(style), m.said);
  return [line, ...(m.dots ? points.map(([a, b]) => markerOf(style, x(a), y(b), `${m.said}: ${Number(a.toPrecision(6))}, ${Number(b.toPrecision(4))}`, true)) : [])];
}

function drawBand(m, x, y) {
  const points = m.points.filter((p) => isKnown(...p));
  if (!points.length) return [];
  const ends = [...points.map((p) => [p[0], p[2]]), ...[...points].reverse().map((p) => [p[0], p[1]])];
  return [tip(svg("path", { d: `${through(ends, x, y)}Z`, class: `f-${className(m.style || 0)}`, opacity: 0.13 }), m.said)];
}

function drawRule(m, frame, layout) {
  const [x0, y0, x1, y1] = corners(m, frame, layout);
  return [stroke(`M${x0} ${y0}L${x1} ${y1}`, m.style === undefined ? "ink" : m.style, m.width || 1.5, m.dashed ? "4 4" : "", m.said)];
}

function drawRegion(m, frame, layout) {
  const [x0, y0, x1, y1] = corners(m, frame, layout);
  const size = { x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) };
  return [tip(svg("rect", { ...size, class: `f-${className(m.style || "shade")}` }), m.said)];
}

function drawLayer(layer, model, frame, layout, choose) {
  const [x, y] = [frame.x, layout.y];
  const kinds = {
    dot: () => drawDots(layer.marks, frame, layout),
    cell: () => layer.marks.flatMap((m, k) => drawCell(m, k, model, x, y, choose)),
    bar: () => layer.marks.flatMap((m, k) => drawBar(m, k, x, y, choose)),
    line: () => layer.marks.flatMap((m) => drawLine(m, x, y)),
    band: () => layer.marks.flatMap((m) => drawBand(m, x, y)),
    rule: () => layer.marks.flatMap((m) => drawRule(m, frame, layout)),
    region: () => layer.marks.flatMap((m) => drawRegion(m, frame, layout)),
    text: () => layer.marks.map((m) => words(x(m.x), y(m.y) + 4, m.text, m.anchor || "start", m.style || "ink")),
  };
  return kinds[layer.kind]();
}

function drawLegend(model, legend) {
  const lines = marksOf(model, "line");
  const lined = lines.length > 0 || marksOf(model, "band").length > 0;
  const dotted = marksOf(model, "dot").length > 0 || lines.some((m) => m.dots);
  return model.series.flatMap((name, i) => {
    const [x, y] = [legend.left + Math.floor(i / legend.rows) * legend.column, legend.top + (i % legend.rows) * SIZE.LINE];
    return [...(lined ? [stroke(`M${x} ${y}h24`, i, 2, dashOf(i))] : []), ...(dotted || !lined ? [markerOf(i, x + 12, y, name, lined)] : []),
      words(x + 30, y + 4, cut(name, legend.column - 44), "start", "ink", name)];
  });
}

function drawRamp(ramp, layout) {
  const count = STEPS[ramp.kind || "heat"];
  const most = Math.max(Math.abs(ramp.low), Math.abs(ramp.high)) || 1;
  const [low, high] = ramp.kind === "gap" ? [-most, most] : [ramp.low, ramp.high];
  const [x, top, each] = [layout.width - 84, layout.top + 24, 7];
  const boxes = Array.from({ length: count }, (_, k) => svg("rect", { x, y: top + k * each, width: 14, height: each,
    class: `f-${stepOf(ramp, low + (1 - (k + 0.5) / count) * (high - low))}` }));
  return [...boxes, words(x, top - 10, cut(ramp.title, 84), "start", "quiet", ramp.title),
    words(x + 20, top + 8, String(Number(high.toPrecision(3))), "start", "quiet"), words(x + 20, top + each * count, String(Number(low.toPrecision(3))), "start", "quiet")];
}

// On a narrow screen a chart without named columns is drawn narrower rather than scrolled.
function fitted(model) {
  const free = model.panels.every((p) => !p.x.names || p.share < 1);
  return window.innerWidth < 640 && free && !model.width ? { ...model, width: Math.max(300, window.innerWidth - 40) } : model;
}

// choose(mark, k) is called for a click on a cell or bar.
function drawChart(given, choose = null) {
  const model = fitted(given);
  const layout = layOut(model);
  const parts = model.panels.flatMap((panel, k) => {
    const frame = layout.frames[k];
    const behind = panel.layers.filter((l) => l.kind === "region");
    const front = panel.layers.filter((l) => l.kind !== "region");
    const draw = (l) => drawLayer(l, model, frame, layout, choose);
    return [...behind.flatMap(draw), ...xAxis(panel, frame, layout), ...(k === 0 ? yAxis(model, layout) : []), ...front.flatMap(draw)];
  });
  if (layout.legend) parts.push(...drawLegend(model, layout.legend));
  if (model.ramp) parts.push(...drawRamp(model.ramp, layout));
  const size = { width: Math.round(layout.width), height: Math.round(layout.height) };
  return svg("svg", { class: "chart", viewBox: `0 0 ${size.width} ${size.height}`, ...size, role: "img", "aria-label": model.title },
    svg("title", {}, model.title), svg("desc", {}, model.description), parts);
}
