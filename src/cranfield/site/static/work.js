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
  for (const field of form.elements) {
    if (!field.name || !field.closest("fieldset[data-question]")) continue;
    const given = answers[field.name] || [];
    if (field.type === "radio" || field.type === "checkbox") field.checked = given.includes(field.value);
    else if (field.dataset.order !== undefined)
      field.value = given.find((text) => text.startsWith(field.dataset.order + "=")) || "";
    else field.value = given[0] || "";
  }
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

const openTab = (form, number) => {
  for (const part of all(".tab", form)) part.hidden = part.dataset.part !== String(number);
  for (const link of all("[data-tab]", form)) {
    if (link.dataset.tab === String(number)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
};
const tabOf = (form) => all(".tab", form).find((part) => !part.hidden) || form;

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

// -- the two places where answers go -------------------------------------------------------------

const remember = (key, value) => { try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* full or forbidden: the page still works */ } };
const recall = (key) => { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } };

const onKeys = (form, act) => (event) => {
  const typing = event.target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
  if (!find("keys").checked || event.ctrlKey || event.altKey || event.metaKey) return;
  if (typing) { if (event.key === "Escape") event.target.blur(); return; }
  const current = form();
  if (!current) return;
  const spec = specOf(current), keys = sheet.keys[current.dataset.form];
  const field = all("[data-key]", tabOf(current)).find((i) => i.dataset.key === event.key);
  const part = all(".tab", current).find((p) => p.dataset.part === event.key);
  const action = Object.keys(keys).find((name) => keys[name] === event.key);
  if (event.target.matches("button, a, summary") && (event.key === " " || event.key === "Enter")) return;
  if (field) {
    field.checked = field.type === "radio" ? true : !field.checked;
    field.focus();
    field.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (action) act(current, action, spec);
  else if (part && all(".tab", current).length > 1) openTab(current, event.key);
  else return;
  event.preventDefault();
};

const specOf = (form) => sheet.forms[form.dataset.form];
const common = (current, act) => {
  document.addEventListener("keydown", onKeys(current, act));
  for (const form of all("form[data-form]")) {
    openTab(form, 1);
    for (const link of all("[data-tab]", form))
      link.addEventListener("click", (event) => { event.preventDefault(); openTab(form, link.dataset.tab); });
    form.addEventListener("change", (event) => {
      if (!event.target.closest("fieldset[data-question]")) return;
      follow(form, specOf(form), event.target);
      act(form, "draft", specOf(form));
      if (specOf(form).at_once && event.target.type === "radio") act(form, "save", specOf(form));
    });
    form.addEventListener("input", () => act(form, "draft", specOf(form)));
    form.addEventListener("submit", (event) => {
      const button = event.submitter;
      const action = button && button.dataset.action ? button.dataset.action : "save";
      if (!act(form, action, specOf(form), true)) event.preventDefault();
    });
  }
  for (const button of all("[data-action=back]"))
    if (button.tagName === "BUTTON") button.addEventListener("click", () => act(current(), "back"));
};

const guide = () => { const g = find("guidelines"); if (g) { g.open = !g.open; g.querySelector("summary").focus(); } };

// -- on the site: one unit; the form is sent as any form is --------------------------------------

const served = () => {
  const form = document.querySelector("form[data-form]"), key = `cranfield:draft:${work.dataset.assignment}`;
  const draft = recall(key);
  if (draft && !work.dataset.answered) { put(form, draft.answers); form.elements.comment.value = draft.comment; }
  restart(draft ? draft.ms : 0);
  const keep = () => { tick(); remember(key, { answers: spoken(form), comment: form.elements.comment.value, ms: watch.spent }); };
  window.addEventListener("pagehide", keep);
  common(() => form, (_, action, spec, sending) => {
    if (action === "draft") { keep(); return false; }
    if (action === "guidelines") { guide(); return false; }
    if (action === "comment") { form.elements.comment.focus(); return false; }
    if (action === "back") { const link = document.querySelector("a[data-action=back]"); if (link) location.assign(link.href); return false; }
    if (action === "save") {
      const problems = check(spec, spoken(form));
      complain(form, problems);
      if (problems.length) return false;
    }
    tick();
    keep();
    form.elements.active_ms.value = Math.round(watch.spent);
    if (!sending) form.requestSubmit(form.querySelector(`[data-action=${action}]`));
    return true;
  });
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
    find("end").hidden = state.at < units.length;
    units.forEach((unit, at) => { unit.hidden = at !== state.at; });
    const current = form();
    for (const one of all("form[data-form]")) one.hidden = one !== current;
    complain(about, []);
    const done = Object.keys(state.said).length;
    find("progress").textContent = busy ? `${state.at + 1} of ${units.length}; ${done} answered` : `${done} of ${units.length} answered`;
    if (current) {
      const saved = state.drafts[name()] || state.said[name()] || { answers: {}, comment: "", ms: 0 };
      put(current, saved.answers);
      current.elements.comment.value = saved.comment;
      openTab(current, 1);
      restart(saved.ms);
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
      const problems = check(spec, spoken(current));
      if (problems.length) { draft(); complain(current, problems); } else settle(current, "done");
    } else if (action === "skip") settle(current, "skipped");
    else if (action === "cannot") settle(current, "cannot tell");
    else if (action === "later") { draft(); if (!state.later.includes(name())) state.later.push(name()); next(); }
    else if (action === "comment") current.elements.comment.focus();
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
