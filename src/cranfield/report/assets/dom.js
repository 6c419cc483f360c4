// Elements, numbers and sortable tables. Text is always set as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return node;
}

function svg(tag, props = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat());
  return node;
}

// Rounded half to even on the exact binary value, as the command line rounds.
function show(value, digits = 4) {
  if (value === null || value === undefined) return "-";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && digits === 0) return String(value);
  const exact = Math.abs(value) < 1e20 ? value.toFixed(60) : "";
  const tail = exact.slice(exact.indexOf(".") + 1 + digits);
  if (!/^50*$/.test(tail)) return value.toFixed(digits);
  const cut = exact.slice(0, exact.length - tail.length);
  const last = Number(cut.replace(/\.$/, "").slice(-1));
  return last % 2 === 0 ? cut.replace(/\.$/, "") : value.toFixed(digits);
}

function showP(p) {
  return p !== null && p < 0.0001 ? "<0.0001" : show(p);
}

function stars(p) {
  if (p === null) return "";
  return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : "";
}

function brief(text, most = 24) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

function name(text) {
  return el("span", { class: "name", title: text.length > 24 ? text.slice(0, 500) : null }, text);
}

let nextId = 0;
function freshId(stem) {
  nextId += 1;
  return `${stem}-${nextId}`;
}

function select(label, options, chosen, change, id = freshId("choice")) {
  const box = el("select", { id, onchange: (e) => change(e.target.value) },
    options.map(([value, text]) => el("option", { value, selected: value === chosen }, brief(text, 60))));
  return el("div", { class: "choice" }, el("label", { for: id }, label), box);
}

function compareCells(a, b) {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

// columns: {label, numeric, digits, format, draw, best}; a cell is a plain value.
function table(caption, columns, rows, options = {}) {
  const most = options.most || 1000;
  const body = el("tbody");
  let order = rows.map((_, i) => i);
  let sorted = { column: -1, down: false };
  const best = columns.map((c, j) => bestOf(c, rows.map((r) => r[j])));
  const heads = columns.map((c, j) => {
    const button = el("button", { type: "button", onclick: () => sortBy(j) }, c.label);
    return el("th", { scope: "col", class: c.numeric ? "n" : null }, button);
  });

  function fill() {
    body.replaceChildren(...order.slice(0, most).map((i) => el("tr", {},
      columns.map((c, j) => {
        const value = rows[i][j];
        const inside = c.draw ? c.draw(value, rows[i]) : c.format ? c.format(value)
          : c.numeric ? show(value, c.digits) : name(value === null ? "-" : String(value));
        const classes = [c.numeric ? "n" : "", value !== null && value === best[j] ? "best" : ""];
        const full = typeof value === "number" ? value : null;
        const props = { class: classes.join(" ").trim() || null, "data-value": full };
        return j === 0 && !c.numeric ? el("th", { scope: "row", ...props }, inside) : el("td", props, inside);
      }))));
  }

  function sortBy(j) {
    const down = sorted.column === j ? !sorted.down : columns[j].numeric;
    sorted = { column: j, down };
    order = rows.map((_, i) => i).sort((x, y) => {
      const [a, b] = [rows[x][j], rows[y][j]];
      if (a === null || b === null) return compareCells(a, b);
      return (down ? -1 : 1) * compareCells(a, b) || x - y;
    });
    heads.forEach((h, k) => (k === j
      ? h.setAttribute("aria-sort", down ? "descending" : "ascending") : h.removeAttribute("aria-sort")));
    fill();
  }

  fill();
  const grid = el("table", { class: options.kind || null },
    el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body);
  const parts = [cue(el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": brief(caption, 80) }, grid))];
  if (rows.length > most) {
    parts.push(el("p", { class: "note" }, `${most} of ${rows.length} rows are shown; sorting chooses from all.`));
  }
  return el("div", {}, parts);
}

function bestOf(column, values) {
  const known = values.filter((v) => typeof v === "number");
  if (!column.best || known.length < 2) return undefined;
  return column.best === "max" ? Math.max(...known) : Math.min(...known);
}

// A chart and the table that says the same.
function figure(caption, picture, twin) {
  return el("figure", {}, el("figcaption", {}, caption), cue(el("div", { class: "picture", tabindex: "0", role: "group", "aria-label": brief(caption, 80) }, picture)),
    el("details", {}, el("summary", {}, "The same as a table"), twin));
}

// What goes on beyond the right edge fades there, until it has been scrolled to.
function cue(box) {
  const mark = () => box.classList.toggle("more", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  box.addEventListener("scroll", mark, { passive: true });
  new ResizeObserver(mark).observe(box);
  return box;
}
