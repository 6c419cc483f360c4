// Charts as SVG. Colours come from the style sheet, but for those that are themselves numbers.
const HUES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#7a5195", "#8c8c8c"];

// On a narrow screen charts are drawn narrower rather than scaled down past reading.
const small = window.innerWidth < 640;

function hue(i) {
  return HUES[i % HUES.length];
}

function dash(i) {
  return ["", "6 3", "2 3"][Math.floor(i / HUES.length) % 3];
}

// A blue that grows darker: from nothing to the best of the scale.
function heat(share) {
  const from = [247, 251, 255];
  const to = [8, 48, 107];
  return `rgb(${from.map((f, i) => Math.round(f + (to[i] - f) * share)).join(",")})`;
}

function gap(share) {
  const to = share > 0 ? [0, 114, 178] : [213, 94, 0];
  const s = Math.min(Math.abs(share), 1);
  return `rgb(${to.map((t) => Math.round(250 + (t - 250) * s)).join(",")})`;
}

function picture(width, height, label, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...children);
}

function tip(node, text) {
  node.append(svg("title", {}, text));
  return node;
}

function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) found.push(k * step);
  return found.map((t) => Number(t.toPrecision(12)));
}

function extent(values, pad = 0.05) {
  const known = values.filter((v) => typeof v === "number");
  let [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const more = (high - low) * pad;
  return [low - more, high + more];
}

function axisX(scale, low, high, y, top, title) {
  const marks = ticks(low, high).flatMap((t) => [
    svg("line", { class: "grid", x1: scale(t), x2: scale(t), y1: top, y2: y }),
    svg("text", { class: "tick", x: scale(t), y: y + 16, "text-anchor": "middle" }, String(t)),
  ]);
  const middle = (scale(low) + scale(high)) / 2;
  return [...marks, svg("text", { class: "axis", x: middle, y: y + 34, "text-anchor": "middle" }, brief(title, 60))];
}

function axisY(scale, low, high, x, right, title) {
  const marks = ticks(low, high).flatMap((t) => [
    svg("line", { class: "grid", x1: x, x2: right, y1: scale(t), y2: scale(t) }),
    svg("text", { class: "tick", x: x - 6, y: scale(t) + 4, "text-anchor": "end" }, String(t)),
  ]);
  const middle = (scale(low) + scale(high)) / 2;
  const at = { class: "axis", x: 0, y: 0, "text-anchor": "middle", transform: `translate(14 ${middle}) rotate(-90)` };
  return [...marks, svg("text", at, brief(title, 40))];
}

// rows: {run, mean, low, high, rank, letters: [..]}, the best first.
function leaderboardChart(rows, title, label) {
  const [left, step, wide] = small ? [104, 24, 150] : [170, 24, 420];
  const letters = [...new Set(rows.flatMap((r) => r.letters))];
  const width = left + wide + (letters.length ? 32 + letters.length * 14 : 24);
  const bottom = 24 + rows.length * step;
  const [low, high] = extent(rows.flatMap((r) => [r.mean, r.low, r.high]));
  const x = (v) => left + ((v - low) / (high - low)) * wide;
  const parts = [];
  rows.forEach((r, i) => {
    const y = 20 + i * step + step / 2;
    if (r.rank === 1) parts.push(svg("rect", { class: "shade", x: 0, y: y - step / 2, width: left + wide + 10, height: step }));
    parts.push(tip(svg("text", { class: "tick", x: left - 10, y: y + 4, "text-anchor": "end" }, brief(r.run, small ? 14 : 24)), r.run.slice(0, 500)));
    r.letters.forEach((letter) => {
      const column = left + wide + 26 + letters.indexOf(letter) * 14;
      parts.push(svg("rect", { class: "group", x: column, y: y - step / 2, width: 10, height: step }));
    });
  });
  parts.push(...axisX(x, low, high, bottom, 20, title));
  rows.forEach((r, i) => {
    const y = 20 + i * step + step / 2;
    if (r.mean === null) return;
    if (r.low !== null) parts.push(svg("line", { class: "rule", x1: x(r.low), x2: x(r.high), y1: y, y2: y }));
    const text = r.low === null ? show(r.mean) : `${show(r.mean)} (${show(r.low)} to ${show(r.high)})`;
    parts.push(tip(svg("circle", { class: "dot", cx: x(r.mean), cy: y, r: 5 }), `${r.run.slice(0, 100)}: ${text}`));
  });
  letters.forEach((letter, i) => {
    parts.push(svg("text", { class: "tick", x: left + wide + 31 + i * 14, y: 14, "text-anchor": "middle" }, letter));
  });
  return picture(width, bottom + 40, label, parts);
}

// cells: Map "row,column" -> {value, text, tip}; the scale is about 0.
function matrixChart(names, cells, label) {
  const [left, top, step] = small ? [104, 90, 28] : [160, 100, 30];
  const most = Math.max(...[...cells.values()].map((c) => Math.abs(c.value)), 1e-12);
  const parts = [];
  names.forEach((n, i) => {
    const middle = i * step + step / 2;
    parts.push(svg("text", { class: "tick", x: left - 8, y: top + middle + 4, "text-anchor": "end" }, brief(n, small ? 14 : 22)));
    parts.push(svg("text", { class: "tick", x: 0, y: 0, transform: `translate(${left + middle + 4} ${top - 8}) rotate(-40)` }, brief(n, 16)));
  });
  for (const [key, cell] of cells) {
    const [row, column] = key.split(",").map(Number);
    const share = cell.value / most;
    const box = svg("rect", { x: left + column * step, y: top + row * step, width: step - 1, height: step - 1, fill: gap(cell.good * share) });
    parts.push(tip(box, cell.tip));
    const ink = Math.abs(share) > 0.55 ? "on-dark" : "on-light";
    parts.push(svg("text", { class: ink, x: left + column * step + step / 2, y: top + row * step + step / 2 + 6, "text-anchor": "middle" }, cell.text));
  }
  return picture(left + names.length * step + 90, top + names.length * step + 10, label, parts);
}

// rows: [{name, values}], columns: names; choose(column) is called on a click.
function heatChart(rows, columns, label, choose) {
  const [left, step] = small ? [104, 22] : [170, 22];
  const cell = Math.max(4, Math.min(14, Math.floor(820 / columns.length)));
  const [low, high] = extent(rows.flatMap((r) => r.values), 0);
  const parts = [];
  rows.forEach((r, i) => {
    parts.push(tip(svg("text", { class: "tick", x: left - 8, y: i * step + 18, "text-anchor": "end" }, brief(r.name, small ? 14 : 24)), r.name.slice(0, 500)));
    r.values.forEach((v, j) => {
      const fill = v === null ? "none" : heat((v - low) / (high - low));
      const box = svg("rect", { class: "cell", x: left + j * cell, y: i * step + 3, width: cell, height: step - 1, fill, onclick: () => choose(j) });
      parts.push(tip(box, `${r.name.slice(0, 100)}, ${columns[j].slice(0, 100)}: ${show(v)}`));
    });
  });
  const y = rows.length * step + 24;
  const scale = [0, 0.25, 0.5, 0.75, 1].map((s, k) => svg("rect", { x: left + k * 24, y: y - 10, width: 24, height: 10, fill: heat(s) }));
  parts.push(...scale, svg("text", { class: "tick", x: left - 8, y, "text-anchor": "end" }, show(low, 2)),
    svg("text", { class: "tick", x: left + 128, y }, show(high, 2)));
  return picture(left + columns.length * cell + 20, y + 8, label, parts);
}

// bars: [{name, value, good, tick}] in the order given.
function barChart(bars, title, label, choose) {
  const [left, top, tall] = [70, 10, 220];
  const step = Math.max(4, Math.min(34, Math.floor(820 / Math.max(bars.length, 1))));
  const all = [0, ...bars.map((b) => b.value), ...bars.map((b) => b.tick)];
  const [low, high] = extent(all, 0.02);
  const y = (v) => top + ((high - v) / (high - low)) * tall;
  const named = step >= 18;
  const right = left + bars.length * step;
  const parts = axisY(y, low, high, left, right, title);
  bars.forEach((b, i) => {
    const x = left + i * step;
    if (b.value !== null) {
      const box = svg("rect", {
        class: `bar ${b.good ? "good" : "bad"}`, x, width: Math.max(step - 1, 2),
        y: Math.min(y(0), y(b.value)), height: Math.max(Math.abs(y(b.value) - y(0)), 0.5), onclick: () => choose && choose(i),
      });
      parts.push(tip(box, `${b.name.slice(0, 100)}: ${show(b.value)}` + (b.tick === undefined ? "" : `; frequency ${show(b.tick)}`)));
    }
    if (b.tick !== undefined) parts.push(svg("line", { class: "rule", x1: x, x2: x + step - 1, y1: y(b.tick), y2: y(b.tick) }));
    if (named) parts.push(svg("text", { class: "tick", "text-anchor": "end", transform: `translate(${x + step / 2 + 3} ${top + tall + 12}) rotate(-50)` }, brief(b.name, 16)));
  });
  parts.push(svg("line", { class: "rule", x1: left, x2: right, y1: y(0), y2: y(0) }));
  return picture(Math.max(right + 10, 300), top + tall + (named ? 90 : 14), label, parts);
}

// lines: [{name, points: [[x, y]], band: [[x, low, high]], mark: [x, y]}] in [0, 1] x [0, 1].
function lineChart(lines, xTitle, yTitle, label, diagonal = false) {
  const [left, top, size] = [50, 10, small ? 260 : 320];
  const [keyLeft, keyTop] = small ? [left, top + size + 56] : [left + size + 16, top + 14];
  const x = (v) => left + v * size;
  const y = (v) => top + (1 - v) * size;
  const parts = [...axisX(x, 0, 1, top + size, top, xTitle), ...axisY(y, 0, 1, left, left + size, yTitle)];
  if (diagonal) parts.push(svg("line", { class: "rule thin", x1: x(0), y1: y(1), x2: x(1), y2: y(0) }));
  lines.forEach((line, i) => {
    if (line.band) {
      const upper = line.band.map(([at, , high]) => `${x(at)},${y(high)}`);
      const lower = line.band.map(([at, low]) => `${x(at)},${y(low)}`).reverse();
      parts.push(svg("polygon", { class: "band", points: [...upper, ...lower].join(" "), fill: hue(i) }));
    }
    const points = line.points.map(([a, b]) => `${x(a)},${y(b)}`).join(" ");
    parts.push(tip(svg("polyline", { class: "line", points, stroke: hue(i), "stroke-dasharray": dash(i) }), line.name.slice(0, 100)));
    if (line.mark) parts.push(svg("circle", { cx: x(line.mark[0]), cy: y(line.mark[1]), r: 4, fill: hue(i) }));
    const row = keyTop + i * 20;
    parts.push(svg("line", { class: "line", x1: keyLeft, x2: keyLeft + 28, y1: row - 4, y2: row - 4, stroke: hue(i), "stroke-dasharray": dash(i) }));
    parts.push(svg("text", { class: "tick", x: keyLeft + 34, y: row }, brief(line.name, 34)));
  });
  return picture(left + size + (small ? 20 : 280), Math.max(top + size + 44, keyTop + lines.length * 20), label, parts);
}

// points: [{name, x, y}]; rule: an x to mark.
function scatterChart(points, xTitle, yTitle, label, rule = null) {
  const [left, top, wide, tall] = small ? [56, 10, 200, 260] : [70, 10, 420, 300];
  const known = points.filter((p) => p.x !== null && p.y !== null);
  const [x0, x1] = extent([...known.map((p) => p.x), rule], 0.08);
  const [y0, y1] = extent(known.map((p) => p.y), 0.08);
  const x = (v) => left + ((v - x0) / (x1 - x0)) * wide;
  const y = (v) => top + ((y1 - v) / (y1 - y0)) * tall;
  const parts = [...axisX(x, x0, x1, top + tall, top, xTitle), ...axisY(y, y0, y1, left, left + wide, yTitle)];
  if (rule !== null) parts.push(tip(svg("line", { class: "rule thin", x1: x(rule), x2: x(rule), y1: top, y2: top + tall }), `truth: ${show(rule)}`));
  // Labels of near points stand apart: from top to bottom each keeps its distance to those before.
  const placed = [];
  [...known].sort((a, b) => y(a.y) - y(b.y)).forEach((p) => {
    const spot = { x: x(p.x) + 9, y: y(p.y) + 4 };
    placed.filter((q) => Math.abs(q.x - spot.x) < 110).forEach((q) => { if (spot.y < q.y + 14) spot.y = q.y + 14; });
    placed.push(spot);
    parts.push(tip(svg("circle", { class: "dot", cx: x(p.x), cy: y(p.y), r: 5 }), `${p.name.slice(0, 100)}: ${show(p.x)}, ${show(p.y)}`));
    if (points.length <= 40) parts.push(svg("text", { class: "tick", x: spot.x, y: spot.y }, brief(p.name, small ? 12 : 18)));
  });
  return picture(left + wide + (small ? 90 : 140), top + tall + 44, label, parts);
}
