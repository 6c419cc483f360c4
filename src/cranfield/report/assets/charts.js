// Draws a chart from its model, as cranfield.report.charts.svg draws it. Colours are classes of the
// style sheet; sizes, dashes, markers and steps come with the page (`data.look`).
const { sizes: SIZE, dashes: DASHES, markers: MARKERS, shapes: SHAPES, hues: HUES, steps: STEPS, letters: LETTERS } = data.look;

const isKnown = (...values) => values.every((v) => typeof v === "number");
const marksOf = (model, kind) => model.panels.flatMap((p) => p.layers.filter((l) => l.kind === kind).flatMap((l) => l.marks));

function textWidth(text) {
  return [...text].reduce((sum, c) => sum + (LETTERS.narrow.includes(c) ? LETTERS.sizes[0] : LETTERS.wide.includes(c) ? LETTERS.sizes[2] : LETTERS.sizes[1]), 0);
}

function cut(text, most) {
  if (textWidth(text) <= most) return text;
  let kept = text.slice(0, 200);
  while (kept && textWidth(kept) + 10 > most) kept = kept.slice(0, -1);
  return `${kept}…`;
}

function className(style) {
  return typeof style === "number" ? `s${style % HUES}` : style;
}

function stepOf(ramp, value) {
  const kind = ramp.kind || "heat";
  const most = Math.max(Math.abs(ramp.low), Math.abs(ramp.high)) || 1;
  let share;
  if (kind === "gap") share = ((ramp.reverse ? -value : value) / most + 1) / 2;
  else {
    share = ramp.high > ramp.low ? (value - ramp.low) / (ramp.high - ramp.low) : 0.5;
    if (ramp.reverse) share = 1 - share;
  }
  return `${kind[0]}${Math.min(Math.max(Math.trunc(share * STEPS[kind]), 0), STEPS[kind] - 1)}`;
}

// ---- scales

function makeScale(axis, values, start, end) {
  let [low, high] = [-0.5, (axis.names || []).length - 0.5];
  const log = Boolean(axis.log);
  const inner = (v) => (log ? (v > 0 ? Math.log10(v) : low) : v);
  if (!axis.names && axis.domain) [low, high] = axis.domain.map((v) => (log ? Math.log10(v) : v));
  else if (!axis.names) {
    const found = values.filter((v) => isKnown(v) && (!log || v > 0)).map((v) => (log ? Math.log10(v) : v));
    [low, high] = found.length ? [found.reduce((a, b) => Math.min(a, b)), found.reduce((a, b) => Math.max(a, b))] : [0, 1];
    const more = high - low < 1e-12 * Math.max(Math.abs(low), 1) ? 0.5 : SIZE.PAD * (high - low);
    [low, high] = [low - more, high + more];
  }
  const scale = (v) => start + ((inner(v) - low) / (high - low)) * (end - start);
  return Object.assign(scale, { low, high, log, step: Math.abs(end - start) / (high - low) });
}

function across(kind, m) {
  if (kind === "line" || kind === "band") return m.points.filter((p) => isKnown(...p)).map((p) => p[0]);
  return kind === "rule" || kind === "region" ? [m.x0, m.x1] : [m.x];
}

function upward(kind, m) {
  if (kind === "line" || kind === "band") return m.points.filter((p) => isKnown(...p)).flatMap((p) => p.slice(1));
  if (kind === "rule" || kind === "region") return [m.y0, m.y1];
  return kind === "bar" ? [0, m.value] : [m.y];
}

function roundNumbers(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * (1 - 1e-9));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k += 1) found.push(k * step);
  return found;
}

function ticksOf(scale, count = 6) {
  if (!scale.log) return roundNumbers(scale.low, scale.high, count);
  const range = (from, to) => Array.from({ length: Math.max(to - from + 1, 0) }, (_, k) => from + k);
  const decades = range(Math.ceil(scale.low - 1e-9), Math.floor(scale.high + 1e-9)).map((k) => 10 ** k);
  if (decades.length >= 3) return decades;
  const found = range(Math.floor(scale.low), Math.ceil(scale.high)).flatMap((k) => [1, 2, 5].map((m) => m * 10 ** k))
    .filter((v) => Math.log10(v) >= scale.low && Math.log10(v) <= scale.high);
  return found.length >= 3 ? found : roundNumbers(10 ** scale.low, 10 ** scale.high, count);
}

function shortNumber(value) {
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(6)));
}

// ---- layout

// A chart of many series, or with many names in its plot, needs more room.
function growth(model) {
  const named = marksOf(model, "dot").filter((d) => d.label).length;
  return (model.series || []).length > SIZE.MANY || named > SIZE.MANY ? SIZE.LARGER : 1;
}

function naturalWidth(panel, model) {
  const names = panel.x.names;
  const share = panel.share === undefined ? 1 : panel.share;
  if (names && share < 1) return SIZE.MARK * names.length;
  if (!names) return (model.square ? SIZE.SQUARE : SIZE.PLOT) * share * growth(model);
  const cells = panel.layers.filter((l) => l.kind === "cell").flatMap((l) => l.marks);
  const most = Math.max(0, ...cells.slice(0, 5000).map((c) => (c.text || "").length));
  let step = Math.max(Math.min(34, (SIZE.PLOT / names.length) * 1.8), cells.length ? 12 : 10, most ? 9 * most + 6 : 0);
  if (names.length > 80) step = Math.max(3, 960 / names.length);
  return Math.max(step * names.length, 60);
}

const slopeOf = (step) => (step < SIZE.STEEP ? 1 : 0.8);
const isTurned = (panel, step) => panel.x.names.some((n) => textWidth(n) > step - 4);
const longestName = (panel) => Math.max(...panel.x.names.map((n) => textWidth(cut(n, SIZE.NAME * 0.8))));

function namesDepth(panel, step) {
  if (!panel.x.names || panel.x.shown === false) return 4;
  return isTurned(panel, step) ? slopeOf(step) * longestName(panel) + 12 : SIZE.LINE;
}

function layOut(model) {
  const series = model.series || [];
  const nameWidth = model.width ? Math.min(SIZE.NAME, model.width * 0.34) : SIZE.NAME;
  const every = model.panels.flatMap((p) => p.layers).flatMap((l) => l.marks.flatMap((m) => upward(l.kind, m)));
  const named = model.y.names;
  const labels = named ? (model.y.shown === false ? [] : named.map((n) => cut(n, nameWidth))) : ticksOf(makeScale(model.y, every, 0, 1)).map(shortNumber);
  const left = (model.y.title ? SIZE.LINE : 0) + (named ? 18 : 16) + Math.max(0, ...labels.map(textWidth));
  const widths = model.panels.map((p) => naturalWidth(p, model));
  const total = widths.reduce((a, b) => a + b, 0);
  const entry = 46 + Math.max(0, ...series.map((s) => textWidth(cut(s, model.width ? Math.min(SIZE.ENTRY, model.width * 0.5) : SIZE.ENTRY))));
  let tall = named ? named.length * (named.length <= 30 ? SIZE.ROW : SIZE.CLOSE_ROW) : (model.square ? SIZE.SQUARE : SIZE.TALL) * growth(model);
  const beside = series.length > 0 && !(model.width && model.width < SIZE.NARROW) && series.length * SIZE.LINE <= Math.max(tall, SIZE.SQUARE);
  const right = (beside ? SIZE.GAP + entry : 0) + SIZE.EDGE + (model.ramp ? SIZE.RAMP : 0);
  const gaps = SIZE.GAP * (widths.length - 1);
  const width = model.width || left + total + gaps + right;
  const above = (p) => (p.x.top ? namesDepth(p, p.share < 1 ? SIZE.MARK : 24) + (p.x.title ? SIZE.LINE : 0) + 4 : 2);
  const under = (p, step) => (p.x.top ? 4 : (p.x.names ? namesDepth(p, step) : SIZE.LINE) + (p.x.title ? SIZE.LINE + 4 : 0) + 2);
  const top = 10 + Math.max(...model.panels.map(above));
  const below = Math.max(...model.panels.map((p, k) => under(p, widths[k] / Math.max((p.x.names || []).length, 1))));
  const rows = Math.ceil(series.length / Math.max(1, Math.floor((width - 8) / entry)));
  const room = Math.max(width - left - gaps - right, 60);
  if (model.square) tall = Math.min(room, tall);
  // Columns of marks keep their width, so that their letters can be read; the others share the rest.
  const isKept = (p) => p.x.names && p.share < 1;
  const kept = model.panels.reduce((sum, p, k) => sum + (isKept(p) ? widths[k] : 0), 0);
  const squeezed = kept > room / 2 ? room / 2 / kept : 1;
  const taken = (p, k) => (isKept(p) ? widths[k] * squeezed : ((room - kept * squeezed) * widths[k]) / (total - kept));
  let at = left;
  const frames = model.panels.map((panel, k) => {
    const [start, end] = [at, at + taken(panel, k)];
    at = end + SIZE.GAP;
    const values = panel.layers.flatMap((l) => l.marks.flatMap((m) => across(l.kind, m)));
    return { left: start, right: end, x: makeScale(panel.x, values, start, end) };
  });
  const bottom = top + tall;
  let height = bottom + below + SIZE.EDGE;
  let legend = null;
  if (beside) legend = { left: frames[frames.length - 1].right + SIZE.GAP, top: top + 8, column: entry, rows: series.length };
  else if (series.length) legend = { left: 8, top: bottom + below + SIZE.GAP, column: entry, rows };
  if (beside) height = Math.max(height, legend.top + SIZE.LINE * legend.rows + SIZE.EDGE);
  else if (legend) height += rows * SIZE.LINE + SIZE.GAP;
  const y = named ? makeScale(model.y, every, top, bottom) : makeScale(model.y, every, bottom, top);
  return { width, height, top, bottom, frames, y, legend, nameWidth };
}

// ---- pieces

function tip(node, said) {
  if (said) node.append(svg("title", {}, said.slice(0, 600)));
  return node;
}

function words(x, y, text, anchor, style = "ink", said = "", more = {}) {
  return tip(svg("text", { x, y, "text-anchor": anchor, class: `f-${className(style)}`, ...more }, text), said !== text ? said : "");
}

function stroke(path, style, width, dashes = "", said = "") {
  return tip(svg("path", { d: path, fill: "none", class: `k-${className(style)}`, "stroke-width": width, "stroke-dasharray": dashes || null }), said);
}

const dashOf = (style) => (typeof style === "number" ? DASHES[Math.floor(style / HUES) % DASHES.length] : "");

function markerOf(style, x, y, said, isSmall = false) {
  const shape = typeof style === "number" ? MARKERS[(style + Math.floor(style / HUES)) % MARKERS.length] : "circle";
  const fill = `f-${className(style)}`;
  if (shape === "circle") return tip(svg("circle", { cx: x, cy: y, r: isSmall ? 3 : 4.5, class: fill }), said);
  return tip(svg("path", { d: `M0 0${SHAPES[shape]}`, transform: `translate(${x} ${y})${isSmall ? " scale(.7)" : ""}`, class: fill }), said);
}

const through = (points, x, y) => `M${points.map(([a, b]) => `${x(a)} ${y(b)}`).join("L")}`;

// ---- axes

function xAxis(panel, frame, layout) {
  const { top, bottom } = layout;
  const axis = panel.x;
  const parts = [];
  let depth = SIZE.LINE;
  if (axis.names) {
    const turn = isTurned(panel, frame.x.step);
    const steep = frame.x.step < SIZE.STEEP;
    depth = axis.shown === false ? 0 : turn ? slopeOf(frame.x.step) * longestName(panel) + 8 : SIZE.LINE;
    (axis.shown === false ? [] : axis.names).forEach((name, k) => {
      const x = frame.x(k);
      if (!turn) { parts.push(words(x, axis.top ? top - 6 : bottom + 14, name, "middle")); return; }
      const [px, py] = [x + (steep ? 4 : 3), axis.top ? top - 6 : bottom + (steep ? 8 : 10)];
      parts.push(words(px, py, cut(name, SIZE.NAME * 0.8), axis.top ? "start" : "end", "ink", name, { transform: `rotate(${steep ? -90 : -50} ${px} ${py})` }));
    });
  } else {
    (axis.marked === false ? [] : ticksOf(frame.x, frame.right - frame.left > 200 ? 6 : 3)).forEach((t) => {
      parts.push(stroke(`M${frame.x(t)} ${top}V${bottom}`, "line", 1), words(frame.x(t), axis.top ? top - 6 : bottom + 16, shortNumber(t), "middle", "quiet"));
    });
  }
  if (!axis.title) return parts;
  const y = axis.top ? top - depth - 8 : bottom + depth + 16;
  const room = frame.right - frame.left;
  if (textWidth(axis.title) > room && frame === layout.frames[layout.frames.length - 1]) parts.push(words(layout.width - 6, y, cut(axis.title, layout.width - 12), "end", "quiet"));
  else parts.push(words((frame.left + frame.right) / 2, y, cut(axis.title, Math.max(room, 150)), "middle", "quiet", axis.title));
  return parts;
}

function yAxis(model, layout) {
  const frame = layout.frames[0];
  const parts = [];
  if (model.y.names) (model.y.shown === false ? [] : model.y.names).forEach((name, k) => parts.push(words(frame.left - 8, layout.y(k) + 4, cut(name, layout.nameWidth), "end", "ink", name)));
  else ticksOf(layout.y).forEach((t) => parts.push(stroke(`M${frame.left} ${layout.y(t)}H${frame.right}`, "line", 1), words(frame.left - 6, layout.y(t) + 4, shortNumber(t), "end", "quiet")));
  if (model.y.title) {
    const middle = (layout.top + layout.bottom) / 2;
    const shown = cut(model.y.title, Math.max(layout.bottom - layout.top, 150));
    parts.push(words(14, middle, shown, "middle", "quiet", model.y.title, { transform: `rotate(-90 14 ${middle})` }));
  }
  return parts;
}
