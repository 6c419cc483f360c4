"use strict";
// Forms by keyboard: one key ticks, one key saves and goes on. The same script serves the file on
// disk (answers stay in the browser until they are saved to a file) and a page of the site (answers
// go to the server, a draft stays in the browser until they have arrived).
(() => {
const work = document.getElementById("work");
if (!work) return;
const local = work.dataset.save === "local";
const sheet = JSON.parse(work.dataset.sheet);
const find = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// What stays in this browser.
const remember = (key, value) => { try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* full or forbidden: the page still works */ } };
const recall = (key) => { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } };

// -- what a form says and whether it may ---------------------------------------------------------

const spoken = (form) => {
  const answers = {};
  for (const field of form.elements) {
    if (!field.name || !field.closest("fieldset[data-question]")) continue;
    const ticked = field.type === "radio" || field.type === "checkbox" ? field.checked : field.value.trim();
    if (ticked) (answers[field.name] ||= []).push(field.type === "radio" || field.type === "checkbox" ? field.value : field.value.trim());
  }
  return answers;
};

const put = (form, answers) => {
  for (const place of all("[data-search]", form)) fillSearch(place, (answers[place.dataset.search] || []).filter((text) => text !== "none"));
  for (const place of all("[data-marks]", form)) fillMarks(place, (answers[place.dataset.question] || []).filter((text) => text !== "none"));
  for (const field of form.elements) {
    if (!field.name || !field.closest("fieldset[data-question]") || field.closest("[data-mark], [data-steps]")) continue;
    const given = answers[field.name] || [];
    if (field.type === "radio" || field.type === "checkbox") field.checked = given.includes(field.value);
    else if (field.dataset.order !== undefined)
      field.value = given.find((text) => text.startsWith(field.dataset.order + "=")) || "";
    else field.value = given[0] || "";
  }
  all("[data-board]", form).filter((board) => board.cards).forEach(arrange);
};

// -- boards: cards in an order, in groups, or in a tree; every card also has a list to choose from --

const placeOf = (card) => { const { value } = card.querySelector("select"); return value.slice(card.dataset.card.length + 1); };
const cardsOf = (board) => all("[data-card]", board);
const boxOf = (board, name, title) => {
  const box = document.createElement("div"), head = document.createElement("p");
  box.className = "box";
  box.dataset.box = name;
  head.textContent = title;
  box.append(head);
  board.append(box);
  return box;
};
// Cards stand where their lists say; the lists are what is saved.
const arrange = (board) => {
  const cards = cardsOf(board), focus = document.activeElement, kind = board.dataset.board;
  const home = new Map(board.cards.map((card) => [card.dataset.card, card]));
  if (kind === "order") board.append(...[...cards].sort((a, b) => (placeOf(a) || 99) - (placeOf(b) || 99)));
  else {
    board.append(...board.cards);
    all(".box", board).forEach((box) => box.remove());
    const tray = boxOf(board, "", kind === "groups" ? "Not in a group yet" : "Not placed yet");
    if (kind === "groups") {
      const used = Math.max(0, ...cards.map((card) => Number(placeOf(card))));
      const most = cards[0].querySelectorAll("option").length - 1;
      for (let n = 1; n <= Math.min(most, used + 1); n += 1) boxOf(board, String(n), `Group ${n}`);
    } else boxOf(board, "top", "At the top");
    const below = (card, seen) => { const up = placeOf(card); return home.has(up) && (seen.includes(up) || below(home.get(up), [...seen, up])); };
    for (const card of board.cards) {
      const up = placeOf(card), parent = home.get(up);
      if (parent && !below(card, [card.dataset.card])) parent.append(card);
      else (all(".box", board).find((box) => box.dataset.box === up) || tray).append(card);
    }
    tray.hidden = !tray.querySelector("[data-card]");
  }
  if (focus && board.contains(focus)) focus.focus({ preventScroll: true });
};
const move = (board, card, place) => {
  const set = (one, to) => { const list = one.querySelector("select"); list.value = to === "" ? "" : `${one.dataset.card}=${to}`; };
  if (board.dataset.board === "order") {
    const order = cardsOf(board).filter((one) => one !== card);
    order.splice(place, 0, card);
    order.forEach((one, at) => set(one, String(at + 1)));
  } else set(card, place);
  card.querySelector("select").dispatchEvent(new Event("change", { bubbles: true }));
};
const dropOn = (board, card, target) => {
  const other = target && target.closest("[data-card]"), box = target && target.closest("[data-box]");
  if (board.dataset.board === "order") { if (other && other !== card) move(board, card, cardsOf(board).indexOf(other)); }
  else if (board.dataset.board === "tree" && other && !card.contains(other)) move(board, card, other.dataset.card);
  else if (box && board.contains(box)) move(board, card, box.dataset.box);
};
const moveByKey = (board, card, key) => {
  const siblings = [...card.parentElement.children].filter((one) => one.dataset.card), at = siblings.indexOf(card);
  const parent = card.parentElement.closest("[data-card]");
  if (board.dataset.board === "order" && key === "ArrowUp") move(board, card, Math.max(0, at - 1));
  else if (board.dataset.board === "order" && key === "ArrowDown") move(board, card, at + 1);
  else if (board.dataset.board === "groups" && /^[1-9]$/.test(key)) move(board, card, key);
  else if (board.dataset.board === "tree" && key === "ArrowRight" && at > 0) move(board, card, siblings[at - 1].dataset.card);
  else if (board.dataset.board === "tree" && key === "ArrowLeft") move(board, card, parent ? placeOf(parent) || "top" : "top");
  else return false;
  card.focus();
  return true;
};
const setUpBoard = (board) => {
  board.cards = cardsOf(board);
  for (const card of board.cards) {
    card.tabIndex = 0;
    card.setAttribute("role", "group");
    card.setAttribute("aria-label", card.querySelector("label").textContent);
    card.addEventListener("keydown", (event) => {
      if (event.target !== card || event.ctrlKey || event.metaKey || event.altKey) return;
      if (moveByKey(board, card, event.key)) { event.preventDefault(); event.stopPropagation(); }
    });
    card.addEventListener("pointerdown", (event) => {
      if (event.button || event.target.closest("select") || event.target.closest("[data-card]") !== card) return;
      event.preventDefault();
      card.focus();
      const from = { x: event.clientX, y: event.clientY };
      const drag = (now) => { card.classList.add("dragged"); card.style.transform = `translate(${now.clientX - from.x}px, ${now.clientY - from.y}px)`; };
      const drop = (now) => {
        document.removeEventListener("pointermove", drag);
        card.style.transform = "";
        const moved = card.classList.contains("dragged");
        const target = moved ? document.elementFromPoint(now.clientX, now.clientY) : null;
        card.classList.remove("dragged");
        if (now.type === "pointerup" && target) dropOn(board, card, target);
        for (const end of ["pointerup", "pointercancel"]) document.removeEventListener(end, drop);
      };
      document.addEventListener("pointermove", drag);
      for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, drop);
    });
  }
  board.addEventListener("change", () => arrange(board));
  arrange(board);
};

const questions = (spec) => spec.tabs.flatMap((tab) => tab.questions);
const demand = { one: "exactly one answer", any: "at least one answer" };

const wrong = (q, answers) => {
  const given = answers[q.name] || [];
  const words = ((answers[q.options.length ? q.name + ".text" : q.name] || [])[0] || "").trim();
  const title = `"${q.title}"`;
  if (q.kind === "text") return q.needed && !words ? `${title} needs an answer` : "";
  if (q.kind === "number") {
    if (!words) return q.needed ? `${title} needs a number` : "";
    const value = Number(words), low = q.least ?? -Infinity, high = q.most ?? Infinity;
    return Number.isFinite(value) && low <= value && value <= high ? ""
      : `${title}: '${words}' is not a number from ${low} to ${high}`;
  }
  if (q.kind === "order") {
    if (!given.length) return q.needed ? `${title} needs a place for each` : "";
    return given.length < q.options.length ? `${title} needs a place for each, or none at all` : "";
  }
  if (q.kind === "groups" || q.kind === "tree") {
    const needs = `${title} needs ${q.kind === "groups" ? "a group" : "a place"} for each`;
    if (!given.length) return q.needed ? needs : "";
    if (given.length < q.options.length) return needs;
    const parents = new Map(given.map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]));
    for (const option of q.kind === "tree" ? q.options : []) {
      let above = option.value, steps = 0;
      while (above !== "top" && steps <= parents.size) { above = parents.get(above); steps += 1; }
      if (above !== "top") return `${title}: ${option.title} is below itself`;
    }
    return "";
  }
  if (q.kind === "search") {
    const steps = given.filter((text) => text !== "none").map((text) => text.split(" ")), items = new Set();
    for (const [, step, ...name] of steps) { if (step === "found") items.add(name.join(" ")); if (step === "lost") items.delete(name.join(" ")); }
    if (items.size && given.includes("none")) return `${title}: "${q.none}" and an answer exclude each other`;
    return q.needed && !items.size && !given.includes("none") ? `${title} needs an item that was found, or that there is none` : "";
  }
  if (["boxes", "points", "segments"].includes(q.kind) && q.needed && !given.length)
    return `${title} needs ${q.kind} of all that there is, or that there is none`;
  if (given.includes("none") && (given.length > 1 || words))
    return `${title}: "${q.none}" and an answer exclude each other`;
  return q.needed && !given.length && !words ? `${title} needs ${demand[q.kind]}` : "";
};

const titleOf = (spec, concept) => {
  const option = questions(spec).flatMap((q) => q.options).find((o) => o.value === concept);
  return option ? option.title : concept.replaceAll("_", " ");
};

const check = (spec, answers) => {
  const found = questions(spec).map((q) => ({ question: q.name, message: wrong(q, answers) })).filter((p) => p.message);
  if (found.length || !spec.concepts.length) return found;
  const own = new Set(spec.concepts), chosen = new Set();
  for (const q of questions(spec))
    for (const value of answers[q.name] || [])
      if (own.has(value)) [value, ...(spec.implied[value] || [])].forEach((c) => chosen.add(c));
  const askedIn = (concepts) => (questions(spec).find((q) => q.options.some((o) => concepts.includes(o.value))) || {}).name || "";
  for (const group of spec.exclusive) {
    const both = group.filter((c) => chosen.has(c));
    if (both.length > 1)
      return [{ question: askedIn(both), message: `${both.map((c) => titleOf(spec, c)).join(" and ")} exclude each other` }];
  }
  for (const [concept, anyOf] of spec.requires)
    if (chosen.has(concept) && !anyOf.some((c) => chosen.has(c)))
      return [{ question: askedIn([concept]), message: `${titleOf(spec, concept)} needs one of: ${anyOf.map((c) => titleOf(spec, c)).join(", ")}` }];
  return [];
};

// -- what is shown -------------------------------------------------------------------------------

// Where no key has two meanings all parts are open at once, and a number goes to its part.
const isWhole = (form) => {
  const keys = all("[data-key]", form).map((field) => field.dataset.key);
  return keys.length === all(".option input:not([value=none])", form).length && new Set(keys).size === keys.length;
};
const openTab = (form, number, move) => {
  const whole = isWhole(form);
  form.classList.toggle("whole", whole);
  for (const part of all(".tab", form)) {
    part.hidden = !whole && part.dataset.part !== String(number);
    if (whole && move && part.dataset.part === String(number)) part.scrollIntoView({ block: "center" });
  }
  for (const link of all("[data-tab]", form)) {
    if (link.dataset.tab === String(number)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
};
const tabOf = (form) => (isWhole(form) ? form : all(".tab", form).find((part) => !part.hidden) || form);

// What was in view so far: a question that was neither seen nor answered is not "absent".
const seenIn = new WeakMap();
const forget = (form, everything) =>
  seenIn.set(form, new Set(everything ? all("fieldset[data-question]", form).map((f) => f.dataset.question) : []));
const look = (form) => {
  if (!form) return;
  if (!seenIn.has(form)) forget(form);
  const { top: roof, bottom: floor } = form.querySelector(".questions").getBoundingClientRect();
  for (const field of all("fieldset[data-question]", form)) {
    const box = field.getBoundingClientRect(), middle = (box.top + box.bottom) / 2;
    if (box.height && roof <= middle && middle <= floor) seenIn.get(form).add(field.dataset.question);
  }
};
const unseen = (form, spec, answers) => {
  look(form);
  return questions(spec)
    .filter((q) => !answers[q.name] && !answers[q.name + ".text"] && !seenIn.get(form).has(q.name))
    .map((q) => ({ question: q.name, message: `"${q.title}" was not looked at yet` }));
};
const objections = (form, spec) => {
  const answers = spoken(form), problems = check(spec, answers);
  return problems.length ? problems : unseen(form, spec, answers);
};

const complain = (form, problems) => {
  const place = find("problems");
  place.replaceChildren();
  for (const field of all("fieldset[data-question]", form)) {
    const own = problems.find((p) => p.question === field.dataset.question);
    field.classList.toggle("wrong", Boolean(own));
  }
  if (!problems.length) return;
  const list = document.createElement("ul"), word = document.createElement("p");
  word.textContent = "Nothing stored:";
  for (const problem of problems) {
    const line = document.createElement("li");
    line.textContent = problem.message;
    list.append(line);
  }
  place.append(word, list);
  const first = all("fieldset[data-question]", form).find((f) => f.dataset.question === problems[0].question);
  if (!first) return;
  const part = first.closest(".tab");
  if (part) openTab(form, part.dataset.part);
  const field = first.querySelector("input, select, textarea");
  if (field) field.focus();
  first.scrollIntoView({ block: "center" });
  look(form);
};

// -- the picture: zoom and pan -------------------------------------------------------------------

const view = { scale: 1, x: 0, y: 0 };
const frames = () => all("[data-unit]:not([hidden]) .frame");
const place = () => {
  for (const frame of frames()) {
    const { width, height } = frame.getBoundingClientRect();
    view.x = Math.min(0, Math.max(view.x, width * (1 - view.scale)));
    view.y = Math.min(0, Math.max(view.y, height * (1 - view.scale)));
    frame.classList.toggle("zoomed", view.scale > 1);
    for (const part of all("img, .overlay", frame)) part.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`;
    frame.style.setProperty("--zoom", view.scale);
  }
};
const zoom = (factor, frame, at) => {
  if (!frame) return;
  const box = frame.getBoundingClientRect();
  const point = at ? { x: at.x - box.left, y: at.y - box.top } : { x: box.width / 2, y: box.height / 2 };
  const scale = Math.min(8, Math.max(1, view.scale * factor)), by = scale / view.scale;
  view.x = point.x - by * (point.x - view.x);
  view.y = point.y - by * (point.y - view.y);
  view.scale = scale;
  place();
};
const pan = (dx, dy) => { view.x += dx; view.y += dy; place(); };
const wholePicture = () => { Object.assign(view, { scale: 1, x: 0, y: 0 }); place(); };
const lookCloser = (event) => {
  const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
  if (event.key === "+" || event.key === "=") zoom(1.25, frames()[0]);
  else if (event.key === "-") zoom(0.8, frames()[0]);
  else if (step && view.scale > 1 && (event.shiftKey || event.target.closest(".units"))) pan(...step);
  else return false;
  return true;
};
const fingers = new Map();
const frameOf = (event) => event.target.closest && event.target.closest(".frame");
document.addEventListener("wheel", (event) => {
  const frame = frameOf(event);
  if (!frame) return;
  event.preventDefault();
  zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, frame, { x: event.clientX, y: event.clientY });
}, { passive: false });
document.addEventListener("dblclick", (event) => { if (frameOf(event)) wholePicture(); });
document.addEventListener("dragstart", (event) => { if (frameOf(event)) event.preventDefault(); });
document.addEventListener("pointerdown", (event) => {
  if (!frameOf(event)) return;
  fingers.set(event.pointerId, event);
  if (fingers.size > 1) dropMark();
  else startMark(event);
});
document.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
  const far = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  if (!other && drawn) drawMark(event);
  else if (!other) pan(event.clientX - before.clientX, event.clientY - before.clientY);
  else if (far(before, other)) {
    const middle = { x: (event.clientX + other.clientX) / 2, y: (event.clientY + other.clientY) / 2 };
    zoom(far(event, other) / far(before, other), frameOf(before), middle);
  }
  fingers.set(event.pointerId, event);
});
for (const event of ["pointerup", "pointercancel"])
  document.addEventListener(event, (end) => { fingers.delete(end.pointerId); endMark(); });

// -- marks: boxes and points on the picture, segments of a recording; the list of them is saved ----

const markPlace = () => { const form = all("form[data-form]").find((one) => !one.hidden); return form && form.querySelector("[data-marks]"); };
const rowsOf = (place) => all("[data-mark]", place);
const fieldOf = (row) => row.querySelector("input");
const readMark = (row) => {
  const text = fieldOf(row).value, at = text.lastIndexOf("="), [x, y, width, height] = text.slice(at + 1).split("@")[0].split(",").map(Number);
  return { label: text.slice(0, at), x, y, width, height };
};
const pictureIn = () => {
  const frame = frames()[0], image = frame && frame.querySelector("img");
  if (!image || !image.naturalWidth) return null;
  const { naturalWidth: width, naturalHeight: height } = image, scale = Math.min(frame.clientWidth / width, frame.clientHeight / height);
  return { frame, width, height, scale, left: (frame.clientWidth - scale * width) / 2, top: (frame.clientHeight - scale * height) / 2 };
};
const pointAt = (event, picture) => {
  const box = picture.frame.getBoundingClientRect();
  return { x: ((event.clientX - box.left - view.x) / view.scale - picture.left) / picture.scale,
    y: ((event.clientY - box.top - view.y) / view.scale - picture.top) / picture.scale };
};
const within = (value, low, high) => Math.min(high, Math.max(low, value));
const spell = (mark, picture) => {
  const round = (number) => Math.round(number * 100) / 100;
  return `${mark.label}=${[mark.x, mark.y, mark.width, mark.height].map(round).join(",")}@${picture.width}x${picture.height}`;
};
const labelOf = (place) => place.querySelector("[data-label]:checked") || place.querySelector("[data-label]");
const titleOfLabel = (place, value) => { const input = all("[data-label]", place).find((one) => one.value === value); return input ? input.labels[0].lastChild.textContent.trim() : value; };
const addMark = (place, text) => {
  const row = document.createElement("li"), field = document.createElement("input"), list = document.createElement("select"), remove = document.createElement("button"), where = document.createElement("span");
  row.dataset.mark = "";
  row.tabIndex = 0;
  Object.assign(field, { type: "hidden", name: place.dataset.question, value: text });
  for (const { value } of all("[data-label]", place)) list.add(new Option(titleOfLabel(place, value), value));
  list.value = text.slice(0, text.lastIndexOf("="));
  where.className = "where";
  Object.assign(remove, { type: "button", textContent: "Remove" });
  list.addEventListener("change", () => { field.value = list.value + field.value.slice(field.value.lastIndexOf("=")); showMarks(); });
  remove.addEventListener("click", () => takeAway(place, row));
  row.addEventListener("keydown", (event) => { if (event.target === row && moveMark(place, row, event)) { event.preventDefault(); event.stopPropagation(); } });
  row.addEventListener("focusin", () => showMarks());
  row.append(field, list, where, remove);
  place.querySelector(".marklist").append(row);
  return row;
};
const fillMarks = (place, texts) => { place.querySelector(".marklist").replaceChildren(); texts.forEach((text) => addMark(place, text)); showMarks(); };
const settleMarks = (place) => {
  const none = place.closest("fieldset").querySelector("input[value=none]");
  if (none && rowsOf(place).length) none.checked = false;
  showMarks();
  place.dispatchEvent(new Event("change", { bubbles: true }));
};
const takeAway = (place, row) => {
  const next = row.nextElementSibling || row.previousElementSibling || place.querySelector("[data-add]");
  row.remove();
  settleMarks(place);
  next.focus();
};
const changeMark = (row, change, picture) => {
  const mark = { ...readMark(row), ...change };
  mark.width = within(mark.width, 0, picture.width);
  mark.height = within(mark.height, 0, picture.height);
  mark.x = within(mark.x, 0, picture.width - mark.width);
  mark.y = within(mark.y, 0, picture.height - mark.height);
  fieldOf(row).value = spell(mark, picture);
  showMarks();
};
const moveMark = (place, row, event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "Delete" || event.key === "Backspace") { takeAway(place, row); return true; }
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key], picture = pictureIn();
  if (!step || !picture || place.dataset.marks === "segments") return false;
  const mark = readMark(row), by = Math.max(1, Math.min(picture.width, picture.height) / 100);
  if (event.shiftKey && place.dataset.marks === "boxes") changeMark(row, { width: Math.max(1, Math.min(picture.width - mark.x, mark.width + step[0] * by)), height: Math.max(1, Math.min(picture.height - mark.y, mark.height + step[1] * by)) }, picture);
  else changeMark(row, { x: mark.x + step[0] * by, y: mark.y + step[1] * by }, picture);
  settleMarks(place);
  return true;
};
const showMarks = () => {
  const list = markPlace();
  if (!list) return;
  for (const [at, row] of rowsOf(list).entries()) {
    const { label, x, y, width, height } = readMark(row), name = titleOfLabel(list, label);
    row.setAttribute("aria-label", `${name}, ${at + 1}`);
    row.querySelector("select").setAttribute("aria-label", `What ${at + 1} shows`);
    row.querySelector("button").setAttribute("aria-label", `Remove ${at + 1}`);
    row.querySelector(".where").textContent = list.dataset.marks === "segments" ? `${x} to ${y} s`
      : list.dataset.marks === "points" ? `${Math.round(x)}, ${Math.round(y)}` : `${Math.round(width)} x ${Math.round(height)} at ${Math.round(x)}, ${Math.round(y)}`;
  }
  const picture = list.dataset.marks === "segments" ? null : pictureIn();
  if (!picture) return;
  let overlay = picture.frame.querySelector(".overlay");
  if (!overlay) {
    overlay = document.createElement("div");
    overlay.className = "overlay";
    overlay.setAttribute("aria-hidden", "true");
    picture.frame.append(overlay);
  }
  overlay.replaceChildren(...rowsOf(list).map((row, at) => {
    const mark = readMark(row), shape = document.createElement("div"), name = document.createElement("b");
    shape.className = list.dataset.marks === "points" ? "mark point" : "mark";
    if (row.contains(document.activeElement) || (drawn && drawn.row === row)) shape.classList.add("current");
    shape.dataset.at = at;
    Object.assign(shape.style, { left: `${picture.left + mark.x * picture.scale}px`, top: `${picture.top + mark.y * picture.scale}px`, width: `${mark.width * picture.scale}px`, height: `${mark.height * picture.scale}px` });
    name.textContent = titleOfLabel(list, mark.label);
    shape.append(name);
    if (list.dataset.marks === "boxes") { const handle = document.createElement("i"); handle.dataset.handle = ""; shape.append(handle); }
    return shape;
  }));
  place();
};
let drawn = null;
const startMark = (event) => {
  const list = markPlace(), picture = list && list.dataset.marks !== "segments" && !event.shiftKey && !event.button ? pictureIn() : null;
  if (!picture || frameOf(event) !== picture.frame) return;
  const shape = event.target.closest(".mark"), from = pointAt(event, picture);
  if (shape) {
    const row = rowsOf(list)[Number(shape.dataset.at)];
    drawn = { list, picture, from, row, mark: readMark(row), way: event.target.closest("[data-handle]") ? "size" : "move", moved: false };
  } else if (from.x >= 0 && from.y >= 0 && from.x <= picture.width && from.y <= picture.height) {
    const mark = { label: labelOf(list).value, x: from.x, y: from.y, width: 0, height: 0 };
    drawn = { list, picture, from, row: null, mark, way: list.dataset.marks === "points" ? "move" : "new", moved: false };
    if (list.dataset.marks === "points") { drawn.row = addMark(list, spell(mark, picture)); showMarks(); }
  }
};
const drawMark = (event) => {
  const { picture, from, mark, way } = drawn, now = pointAt(event, picture);
  const x = within(now.x, 0, picture.width), y = within(now.y, 0, picture.height);
  if (!drawn.moved && Math.hypot(now.x - from.x, now.y - from.y) * picture.scale * view.scale < 4) return;
  drawn.moved = true;
  if (!drawn.row) drawn.row = addMark(drawn.list, spell(mark, picture));
  if (way === "move") changeMark(drawn.row, { x: mark.x + now.x - from.x, y: mark.y + now.y - from.y }, picture);
  else if (way === "size") changeMark(drawn.row, { width: Math.max(1, x - mark.x), height: Math.max(1, y - mark.y) }, picture);
  else changeMark(drawn.row, { x: Math.min(x, from.x), y: Math.min(y, from.y), width: Math.max(1, Math.abs(x - from.x)), height: Math.max(1, Math.abs(y - from.y)) }, picture);
};
const endMark = () => {
  if (!drawn) return;
  const { list, row, moved, way } = drawn;
  drawn = null;
  if (!row) return;
  row.focus({ preventScroll: true });
  if (moved || way === "new" || list.dataset.marks === "points") settleMarks(list);
};
// A second finger means that the picture is to be moved, not drawn on.
const dropMark = () => {
  if (!drawn) return;
  const { row, way, mark, picture, list } = drawn;
  if (row && (way === "new" || (list.dataset.marks === "points" && !drawn.moved))) row.remove();
  else if (row) changeMark(row, mark, picture);
  drawn = null;
  showMarks();
};
const setUpMarks = (list) => {
  const answers = JSON.parse(list.dataset.given), segments = list.dataset.marks === "segments";
  fillMarks(list, answers.filter((text) => text !== "none"));
  let start = 0;
  const recording = () => document.querySelector("[data-unit]:not([hidden]) :is(audio, video)");
  list.querySelector("[data-from]")?.addEventListener("click", () => { start = recording() ? recording().currentTime : 0; list.querySelector(".from").textContent = `from ${start.toFixed(2)} s`; });
  list.querySelector("[data-add]").addEventListener("click", () => {
    const picture = pictureIn(), label = labelOf(list).value;
    if (segments) {
      const end = recording() ? recording().currentTime : 0;
      if (end <= start) { list.querySelector(".from").textContent = "The end is not after the start: play on, then press it again."; return; }
      addMark(list, `${label}=${start.toFixed(2)},${end.toFixed(2)}`);
      start = end;
    } else if (picture) {
      const middle = { x: ((picture.frame.clientWidth / 2 - view.x) / view.scale - picture.left) / picture.scale, y: ((picture.frame.clientHeight / 2 - view.y) / view.scale - picture.top) / picture.scale };
      const side = list.dataset.marks === "boxes" ? 1 / (4 * view.scale) : 0;
      const row = addMark(list, spell({ label, x: 0, y: 0, width: 0, height: 0 }, picture));
      changeMark(row, { x: middle.x - side * picture.width / 2, y: middle.y - side * picture.height / 2, width: side * picture.width, height: side * picture.height }, picture);
    } else return;
    settleMarks(list);
    rowsOf(list).at(-1).focus();
  });
  // One label at a time, for the next mark, or for the one that has the focus.
  for (const label of all("[data-label]", list))
    label.addEventListener("change", (event) => { event.stopPropagation(); all("[data-label]", list).forEach((one) => { one.checked = one === label; }); });
};

// -- undo: the answers of this form as they were before the last tick ------------------------------

const past = { form: null, steps: [], now: {} };
const begin = (form) => { showSuggested(form); Object.assign(past, { form, steps: [], now: spoken(form) }); offerUndo(form); wholePicture(); };
const offerUndo = (form) => {
  const button = form.querySelector("[data-action=undo]");
  if (button) button.hidden = past.form !== form || !past.steps.length;
};
const note = (form) => {
  if (past.form !== form) begin(form);
  past.steps.push(past.now);
  past.now = spoken(form);
  offerUndo(form);
};
const undo = (form) => {
  if (past.form !== form || !past.steps.length) return false;
  past.now = past.steps.pop();
  put(form, past.now);
  offerUndo(form);
  return true;
};

// A concept brings those above it along, and takes those below it away.
const follow = (form, spec, field) => {
  if (field.type !== "checkbox" && field.type !== "radio") return;
  const box = (value) => all("input", form).find((i) => i.value === value && i.type === "checkbox");
  if (field.value === "none" && field.checked)
    all("input", field.closest("fieldset")).forEach((i) => { if (i !== field && i.type === "checkbox") i.checked = false; });
  else if (field.checked) {
    (spec.implied[field.value] || []).forEach((c) => { if (box(c)) box(c).checked = true; });
    const none = all("input", field.closest("fieldset")).find((i) => i.value === "none" && i.type === "checkbox");
    if (none) none.checked = false;
  } else
    for (const [below, above] of Object.entries(spec.implied))
      if (above.includes(field.value) && box(below)) box(below).checked = false;
};

// -- time in front -------------------------------------------------------------------------------

const watch = { spent: 0, since: 0 };
const inFront = () => document.visibilityState === "visible" && document.hasFocus();
const tick = () => {
  const now = performance.now();
  if (watch.since) watch.spent += now - watch.since;
  watch.since = inFront() ? now : 0;
};
const restart = (spent) => { watch.spent = spent || 0; watch.since = inFront() ? performance.now() : 0; };
for (const event of ["visibilitychange", "pagehide"]) document.addEventListener(event, tick);
for (const event of ["focus", "blur"]) window.addEventListener(event, tick);

// -- search: items by the mean confidence of the concepts that are chosen; every step is kept ---------

const SHOWN = 24;
const showHits = (place) => {
  const concepts = all("[data-concept]", place), chosen = concepts.map((input, at) => (input.checked ? at : -1)).filter((at) => at >= 0);
  const hits = place.hits.map(({ button, row }, at) => ({ button, at, score: chosen.reduce((sum, k) => sum + row[k], 0) / chosen.length }));
  if (chosen.length) hits.sort((a, b) => b.score - a.score || a.at - b.at);
  const grid = place.querySelector(".hits");
  hits.forEach(({ button }, at) => { button.hidden = !chosen.length || at >= SHOWN; if (!button.hidden) grid.append(button); });
  place.querySelector(".how").textContent = chosen.length ? `The ${Math.min(SHOWN, hits.length)} of ${hits.length} that fit best. Press what you looked for.` : "Choose one concept or more.";
};
const addStep = (place, step, name) => {
  const field = document.createElement("input");
  tick();
  Object.assign(field, { type: "hidden", name: place.dataset.search, value: `${(watch.spent / 1000).toFixed(2)} ${step} ${name}` });
  place.querySelector("[data-steps]").append(field);
};
const fillSearch = (place, texts) => {
  place.querySelector("[data-steps]").replaceChildren();
  const chosen = new Set(), items = new Set();
  for (const text of texts) {
    const [, step, ...words] = text.split(" "), name = words.join(" "), set = step === "added" || step === "dropped" ? chosen : items;
    if (step === "added" || step === "found") set.add(name); else set.delete(name);
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: place.dataset.search, value: text });
    place.querySelector("[data-steps]").append(field);
  }
  for (const input of all("[data-concept]", place)) input.checked = chosen.has(input.value);
  for (const button of all("[data-hit]", place)) button.setAttribute("aria-pressed", items.has(button.dataset.hit));
  showHits(place);
};
const setUpSearch = (place) => {
  const buttons = new Map(all("[data-hit]", place).map((button) => [button.dataset.hit, button]));
  place.hits = JSON.parse(place.dataset.index).map(([item, row]) => ({ button: buttons.get(item), row }));
  fillSearch(place, JSON.parse(place.dataset.given).filter((text) => text !== "none"));
  const settle = () => place.dispatchEvent(new Event("change", { bubbles: true }));
  for (const input of all("[data-concept]", place))
    input.addEventListener("change", (event) => { event.stopPropagation(); addStep(place, input.checked ? "added" : "dropped", input.value); showHits(place); settle(); });
  for (const button of buttons.values())
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") !== "true", none = place.closest("fieldset").querySelector("input[value=none]");
      button.setAttribute("aria-pressed", pressed);
      if (pressed && none) none.checked = false;
      addStep(place, pressed ? "found" : "lost", button.dataset.hit);
      settle();
    });
  const filter = place.querySelector("[data-filter]");
  filter.addEventListener("input", () => {
    const part = filter.value.trim().toLowerCase();
    for (const chip of all(".chip", place)) chip.hidden = !chip.textContent.toLowerCase().includes(part) && !chip.querySelector("input").checked;
  });
};

// -- suggestions of a run, where they are to be seen: beside the options, and taken all at once -------

const suggestedIn = () => JSON.parse(document.querySelector("[data-unit]:not([hidden])")?.dataset.suggested || "{}");
const showSuggested = (form) => {
  const suggested = suggestedIn(), button = form.querySelector("[data-action=suggested]");
  all(".suggestion", form).forEach((old) => old.remove());
  for (const input of all(".option input", form)) {
    if (!(input.value in suggested)) continue;
    const hint = document.createElement("span");
    hint.className = "suggestion";
    hint.textContent = `suggested ${Number(suggested[input.value]).toFixed(2)}`;
    input.closest(".option").append(hint);
  }
  if (button) button.hidden = !form.querySelector(".suggestion");
};
const takeSuggested = (form) => {
  for (const hint of all(".suggestion", form)) {
    const input = hint.closest(".option").querySelector("input");
    if (input.checked || input.dataset.label !== undefined) continue;
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }
};

// The last tick of this form; where there is none, the form before it.
const takeBack = (form, act) => act(form, undo(form) ? "draft" : "back", specOf(form));

// "None of these" for the first question that is still without an answer and offers it.
const denyNext = (form) => {
  const answers = spoken(form);
  const open = all("fieldset[data-question] input[value=none]", tabOf(form))
    .find((none) => !answers[none.name] && !answers[none.name + ".text"]);
  if (!open) return;
  open.checked = true;
  open.focus();
  open.dispatchEvent(new Event("change", { bubbles: true }));
};

// -- keys of one's own: which key stands for which -------------------------------------------------

const OWN_KEYS = "cranfield:keys", NAMES = { " ": "Space", Backspace: "⌫" };
const keymap = recall(OWN_KEYS) || {};
const capOf = (key) => keymap[key] || key;
const meantBy = (pressed) => Object.keys(keymap).find((key) => keymap[key] === pressed)
  || (keymap[pressed] ? "" : pressed);
const showCaps = () => {
  for (const cap of all("[data-cap]")) { const key = capOf(cap.dataset.cap); cap.textContent = NAMES[key] || key; }
};
const changeKey = (key, pressed) => {
  const before = capOf(key), other = meantBy(pressed);
  keymap[key] = pressed;
  if (other && other !== key) keymap[other] = before;
  for (const name of Object.keys(keymap)) if (keymap[name] === name) delete keymap[name];
  remember(OWN_KEYS, keymap);
  showCaps();
};
let awaited = null;
const offerKeys = () => {
  const named = new Map();
  for (const [form, keys] of Object.entries(sheet.keys)) {
    for (const [action, key] of Object.entries(keys)) named.set(key, action);
    for (const q of questions(sheet.forms[form])) for (const o of q.options) if (o.key) named.set(o.key, named.has(o.key) ? `${named.get(o.key)}, ${o.title}` : o.title);
  }
  for (const [key, title] of named) {
    const line = document.createElement("li"), button = document.createElement("button"), cap = document.createElement("kbd");
    cap.dataset.cap = key;
    button.type = "button";
    button.append(cap, ` ${title}`);
    button.addEventListener("click", () => { awaited = key; button.classList.add("awaited"); button.addEventListener("blur", () => { awaited = null; button.classList.remove("awaited"); }, { once: true }); });
    line.append(button);
    find("keylist").append(line);
  }
  find("keyreset").addEventListener("click", () => { for (const key of Object.keys(keymap)) delete keymap[key]; remember(OWN_KEYS, keymap); showCaps(); });
  showCaps();
};
const takeKey = (event) => {
  if (awaited === null || ["Tab", "Shift", "Control", "Alt", "Meta"].includes(event.key)) return false;
  if (event.key !== "Escape") changeKey(awaited, event.key);
  event.target.blur();
  event.preventDefault();
  return true;
};

const onKeys = (form, act) => (event) => {
  if (takeKey(event)) return;
  const typing = event.target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
  if (!find("keys").checked || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    const undone = event.key === "z" && !typing ? form() : null;
    if (undone) { takeBack(undone, act); event.preventDefault(); }
    return;
  }
  if (typing) { if (event.key === "Escape") event.target.blur(); return; }
  const current = form();
  if (!current) return;
  const spec = specOf(current), keys = sheet.keys[current.dataset.form];
  const key = meantBy(event.key);
  const field = all("[data-key]", tabOf(current)).find((i) => i.dataset.key === key);
  const part = all(".tab", current).find((p) => p.dataset.part === key);
  const action = Object.keys(keys).find((name) => keys[name] === key);
  if (event.target.matches("button, a, summary") && (event.key === " " || event.key === "Enter")) return;
  if (field) {
    field.checked = field.type === "radio" ? true : !field.checked;
    field.focus();
    look(current);
    field.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (action === "none") denyNext(current);
  else if (action === "suggested") takeSuggested(current);
  else if (action) act(current, action, spec);
  else if (part && all(".tab", current).length > 1) { openTab(current, key, true); look(current); }
  else if (lookCloser(event)) { /* done */ }
  else return;
  event.preventDefault();
};

const specOf = (form) => sheet.forms[form.dataset.form];
// What the concept under the pointer or the focus means, in one place that covers nothing.
const explain = (form, target) => {
  const option = target.closest(".option"), line = form.querySelector(".meaning");
  const definition = option && option.querySelector(".definition");
  if (line && option) line.textContent = definition ? definition.textContent : "";
};
const common = (current, act) => {
  document.addEventListener("keydown", onKeys(current, act));
  offerKeys();
  all("[data-board]").forEach(setUpBoard);
  all("[data-search]").forEach(setUpSearch);
  all("[data-marks]").forEach(setUpMarks);
  all(".frame img").forEach((image) => image.addEventListener("load", showMarks));
  for (const form of all("form[data-form]")) {
    openTab(form, 1);
    for (const link of all("[data-tab]", form))
      link.addEventListener("click", (event) => { event.preventDefault(); openTab(form, link.dataset.tab, true); look(form); });
    form.addEventListener("change", (event) => {
      if (!event.target.closest("fieldset[data-question]")) return;
      follow(form, specOf(form), event.target);
      note(form);
      act(form, "draft", specOf(form));
      if (specOf(form).at_once && event.target.type === "radio") act(form, "save", specOf(form));
    });
    for (const event of ["focusin", "mouseover"]) form.addEventListener(event, ({ target }) => explain(form, target));
    const more = form.querySelector("[data-action=more]");
    if (more) {
      more.hidden = false;
      fold(form);
      more.addEventListener("click", () => more.setAttribute("aria-expanded", form.classList.toggle("folded") ? "false" : "true"));
    }
    form.querySelector("[data-action=suggested]")?.addEventListener("click", () => takeSuggested(form));
    form.querySelector("[data-action=undo]")?.addEventListener("click", () => takeBack(form, act));
    form.addEventListener("input", () => act(form, "draft", specOf(form)));
    form.addEventListener("submit", (event) => {
      const button = event.submitter;
      const action = button && button.dataset.action ? button.dataset.action : "save";
      if (!act(form, action, specOf(form), true)) event.preventDefault();
    });
  }
  document.addEventListener("scroll", () => look(current()), { capture: true, passive: true });
  window.addEventListener("resize", () => { look(current()); place(); showMarks(); });
  for (const button of all("[data-action=back]"))
    if (button.tagName === "BUTTON") button.addEventListener("click", () => act(current(), "back"));
};

const guide = () => { const g = find("guidelines"); if (g) { g.open = !g.open; g.querySelector("summary").focus(); } };
const fold = (form) => {
  const folded = !form.elements.comment.value;
  form.classList.toggle("folded", folded);
  form.querySelector("[data-action=more]").setAttribute("aria-expanded", folded ? "false" : "true");
};
const comment = (form) => { form.classList.remove("folded"); form.elements.comment.focus(); };
// The form has the whole screen while there is something to judge.
const takeScreen = (whole) => document.body.classList.toggle("desk", whole);

// -- on the site: one unit; the form is sent as any form is --------------------------------------

const served = () => {
  const form = document.querySelector("form[data-form]"), key = `cranfield:draft:${work.dataset.assignment}`;
  const post = `cranfield:post:${work.dataset.assignment}`;
  let underWay = false;
  // An answer stays here until the server has it: its key makes one of what is sent twice.
  const deliver = async (letter) => {
    if (underWay) return;
    underWay = true;
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    let reply = null;
    try { reply = await fetch(letter.to, { method: "POST", body: letter.body, headers, redirect: "manual" }); } catch { /* away */ }
    underWay = false;
    if (!reply || reply.status >= 500) {
      const line = find("waiting");
      line.hidden = false;
      line.textContent = "The server does not answer. Your answer waits in this browser and is sent when it is back.";
      setTimeout(deliver, 2000, letter);
      return;
    }
    try { localStorage.removeItem(post); } catch { /* nothing was stored */ }
    if (reply.type === "opaqueredirect") { location.assign(work.dataset.next); return; }
    // Refused: the page of the server says why.
    const state = document.createElement("input");
    Object.assign(state, { type: "hidden", name: "state", value: new URLSearchParams(letter.body).get("state") });
    form.append(state);
    form.submit();
  };
  const draft = recall(key);
  if (draft && !work.dataset.answered) { put(form, draft.answers); form.elements.comment.value = draft.comment; fold(form); }
  restart(draft ? draft.ms : 0);
  // The reason of a decision stays until another one is given.
  const reason = form.elements.reason;
  if (reason && !reason.value) reason.value = recall("cranfield:reason") || "";
  const keep = () => { tick(); remember(key, { answers: spoken(form), comment: form.elements.comment.value, ms: watch.spent }); };
  window.addEventListener("pagehide", keep);
  common(() => form, (_, action, spec, sending) => {
    if (action === "draft") { keep(); return false; }
    if (action === "guidelines") { guide(); return false; }
    if (action === "comment") { comment(form); return false; }
    const link = document.querySelector(`a[data-action=${action}]`);
    if (link || action === "back") { if (link) location.assign(link.href); return false; }
    if (action === "save") {
      const problems = objections(form, spec);
      complain(form, problems);
      if (problems.length) return false;
    }
    if (reason) remember("cranfield:reason", reason.value);
    if (!sending) { form.requestSubmit(form.querySelector(`[data-action=${action}]`)); return false; }
    tick();
    keep();
    form.elements.active_ms.value = Math.round(watch.spent);
    const fields = new URLSearchParams(new FormData(form));
    fields.set("state", form.querySelector(`[data-action=${action}]`).value);
    const letter = { to: form.action, body: fields.toString() };
    remember(post, letter);
    deliver(letter);
    return false;
  });
  takeScreen(true);
  forget(form, Boolean(work.dataset.answered));
  look(form);
  begin(form);
  const waiting = recall(post);
  if (waiting && waiting.to === form.action) deliver(waiting);
  if (work.dataset.wrong) complain(form, JSON.parse(work.dataset.wrong));
  // What comes next is fetched while this one is looked at.
  window.addEventListener("load", () => { for (const address of JSON.parse(work.dataset.ahead)) new Image().src = address; });
};

// -- on disk: all units; the answers are kept here and saved to a file ----------------------------

const alone = () => {
  const key = `cranfield:${sheet.sha}:${location.pathname}`;
  const state = recall(key) || { who: "", about: {}, at: -1, said: {}, drafts: {}, later: [] };
  const units = all("[data-unit]"), about = find("about");
  const store = () => remember(key, state);
  const name = () => units[state.at] && units[state.at].dataset.unit;
  const form = () => (state.at >= 0 && state.at < units.length
    ? document.querySelector(`form[data-form="${CSS.escape(units[state.at].dataset.form)}"]`) : null);

  const show = () => {
    tick();
    const busy = state.at >= 0 && state.at < units.length;
    find("start").hidden = state.at >= 0;
    find("work-area").hidden = !busy;
    takeScreen(busy);
    find("end").hidden = state.at < units.length;
    units.forEach((unit, at) => { unit.hidden = at !== state.at; });
    const current = form();
    for (const one of all("form[data-form]")) one.hidden = one !== current;
    complain(about, []);
    const done = Object.keys(state.said).length;
    find("progress").textContent = busy ? `${state.at + 1} of ${units.length}; ${done} answered` : `${done} of ${units.length} answered`;
    find("bar").value = done;
    if (current) {
      const saved = state.drafts[name()] || state.said[name()] || { answers: {}, comment: "", ms: 0 };
      put(current, saved.answers);
      current.elements.comment.value = saved.comment;
      fold(current);
      openTab(current, 1);
      restart(saved.ms);
      current.querySelector(".questions").scrollTop = 0;
      forget(current, (state.said[name()] || {}).state === "done");
      look(current);
      begin(current);
      units[state.at].querySelector("h2").focus({ preventScroll: true });
    } else if (state.at >= units.length) {
      const left = units.length - done;
      find("left").textContent = left ? `${left} of ${units.length} are not answered yet.` : "";
      find("end").focus();
    }
  };
  const next = () => {
    const open = (at) => !state.said[units[at].dataset.unit];
    let at = state.at + 1;
    // What was put off comes again once all others have been seen.
    if (at >= units.length) { const off = units.findIndex((_, k) => open(k) && state.later.includes(units[k].dataset.unit)); if (off >= 0) { state.later = state.later.filter((u) => u !== units[off].dataset.unit); at = off; } }
    state.at = at;
    store();
    show();
  };
  const draft = () => {
    const current = form();
    if (!current) return;
    tick();
    state.drafts[name()] = { answers: spoken(current), comment: current.elements.comment.value, ms: watch.spent };
    store();
  };
  const settle = (current, how) => {
    draft();
    state.said[name()] = { ...state.drafts[name()], state: how };
    if (how !== "done") state.said[name()].answers = {};
    delete state.drafts[name()];
    next();
  };
  common(form, (current, action, spec) => {
    if (action === "draft") draft();
    else if (action === "save") {
      const problems = objections(current, spec);
      if (problems.length) { draft(); complain(current, problems); } else settle(current, "done");
    } else if (action === "skip") settle(current, "skipped");
    else if (action === "cannot") settle(current, "cannot tell");
    else if (action === "later") { draft(); if (!state.later.includes(name())) state.later.push(name()); next(); }
    else if (action === "comment") comment(current);
    else if (action === "guidelines") guide();
    else if (action === "back" && state.at > -1) { draft(); state.at -= 1; store(); show(); }
    return false;
  });

  const take = () => {
    draft();
    const filled = units.map((u) => u.dataset.unit).filter((u) => state.said[u]).map((unit) => {
      const said = state.said[unit];
      return { unit, state: said.state, answers: said.answers, seconds: Math.round(said.ms) / 1000, comment: said.comment };
    });
    const answer = { "cranfield-response": 1, annotator: state.who, sheet: sheet.asked, about: state.about, filled };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(answer, null, 1)], { type: "application/json" }));
    link.download = `answers-${state.who.replace(/[^A-Za-z0-9]+/g, "-") || "anonymous"}.json`;
    link.click();
  };
  for (const button of [find("take"), ...all("[data-action=take]")]) button.addEventListener("click", take);
  about.addEventListener("submit", (event) => {
    event.preventDefault();
    const who = find("who").value.trim(), answers = spoken(about);
    const problems = sheet.asked.about ? check(sheet.asked.about, answers) : [];
    if (!who) problems.unshift({ question: "", message: "Your name or number is needed" });
    complain(about, problems);
    if (!who) find("who").focus();
    if (problems.length) return;
    Object.assign(state, { who, about: answers });
    state.at = 0;
    store();
    show();
  });
  find("who").value = state.who;
  put(about, state.about);
  window.addEventListener("pagehide", () => { if (form()) draft(); });
  show();
};

work.cranfield = { check, spoken };
if (local) alone(); else served();
document.documentElement.dataset.ready = "yes";
})();
