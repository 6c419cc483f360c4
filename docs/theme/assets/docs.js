"use strict";
// Search that needs no server: the index is a script, which pages may load from disk too.

const ROOT = document.currentScript.dataset.root;
const input = document.getElementById("search");
const found = document.getElementById("found");
const said = document.getElementById("said");
const SHOWN = 12;

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const words = (text) => plain(text).match(/[\p{L}\p{N}]+/gu) ?? [];

let loading;
function index() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${ROOT}assets/search-index.js`;
    script.onload = () => resolve(window.SEARCH_INDEX.map(prepared));
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

function prepared([address, page, section, text, terms = ""]) {
  const heads = words(section || page);
  return { address, page, section, text, heads, pages: words(page), body: ` ${words(text).join(" ")} `, terms: words(terms) };
}

// Every word must occur, at least as the beginning of one; headings weigh more than text, and the
// words that a page must be found by (search_terms.toml) most.
function weight(entry, asked) {
  let total = 0;
  for (const word of asked) {
    const exact = entry.heads.includes(word);
    const head = exact || entry.heads.some((w) => w.startsWith(word));
    const page = entry.pages.some((w) => w.startsWith(word));
    const term = entry.terms.includes(word);
    const times = entry.body.split(` ${word}`).length - 1;
    if (!head && !page && !times && !term) return 0;
    total += (exact ? 40 : head ? 20 : 0) + (page ? 8 : 0) + (term ? 120 : 0) + Math.min(times, 5);
  }
  return total / Math.log(8 + entry.heads.length);
}

function marked(text, asked) {
  const span = document.createElement("small");
  const lower = plain(text);
  const places = asked.map((w) => lower.search(new RegExp(`(?<![\\p{L}\\p{N}])${w}`, "u")));
  const first = Math.min(...places.filter((p) => p >= 0), text.length);
  const from = first === text.length ? 0 : Math.max(0, first - 60);
  const piece = (from ? "…" : "") + text.slice(from, from + 180) + (from + 180 < text.length ? "…" : "");
  let rest = piece;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${asked.join("|")})`, "iu");
  for (let hit = pattern.exec(rest); hit; hit = pattern.exec(rest)) {
    const mark = document.createElement("mark");
    mark.textContent = hit[0];
    span.append(rest.slice(0, hit.index), mark);
    rest = rest.slice(hit.index + hit[0].length);
  }
  span.append(rest);
  return span;
}

function show(list, asked) {
  found.replaceChildren(
    ...list.map((entry, number) => {
      const link = document.createElement("a");
      link.href = ROOT + entry.address;
      link.id = `found-${number}`;
      link.setAttribute("role", "option");
      link.setAttribute("aria-selected", "false");
      const head = document.createElement("b");
      head.textContent = entry.section ? `${entry.section} – ${entry.page}` : entry.page;
      link.append(head, marked(entry.text, asked));
      return link;
    }),
  );
  if (!list.length) {
    const none = document.createElement("p");
    none.textContent = "Nothing found.";
    found.append(none);
  }
  said.textContent = list.length ? `${list.length} found` : "Nothing found";
  opened(true);
}

function opened(yes) {
  found.hidden = !yes;
  input.setAttribute("aria-expanded", String(yes));
  input.removeAttribute("aria-activedescendant");
}

let asking = 0;
async function search() {
  const asked = words(input.value);
  const mine = ++asking;
  if (!asked.length) return opened(false);
  let entries;
  try {
    entries = await index();
  } catch {
    said.textContent = "The index could not be read";
    return opened(false);
  }
  if (mine !== asking) return; // typed on meanwhile
  const hits = entries.map((e) => [weight(e, asked), e]).filter(([w]) => w > 0);
  hits.sort((a, b) => b[0] - a[0]);
  show(hits.slice(0, SHOWN).map(([, e]) => e), asked);
  document.documentElement.dataset.searched = input.value;
}

function move(by) {
  const options = [...found.querySelectorAll("a")];
  if (!options.length) return;
  const now = options.findIndex((o) => o.getAttribute("aria-selected") === "true");
  const next = now < 0 && by < 0 ? options.length - 1 : (now + by + options.length) % options.length;
  options.forEach((o, k) => o.setAttribute("aria-selected", String(k === next)));
  options[next].scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", options[next].id);
}

input.addEventListener("input", search);
input.addEventListener("focus", () => index().catch(() => {}));
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter") {
    const chosen = found.querySelector('[aria-selected="true"]') ?? found.querySelector("a");
    if (!found.hidden && chosen) chosen.click();
  } else if (event.key === "Escape") {
    opened(false);
  }
});
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing) {
    event.preventDefault();
    input.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("search") || event.target.closest("#found a")) opened(false);
});

const menu = document.getElementById("menu");
menu.addEventListener("click", () => {
  menu.setAttribute("aria-expanded", String(menu.getAttribute("aria-expanded") !== "true"));
});

// What may be copied: commands without their prompts.
for (const box of document.querySelectorAll(".code")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = box.querySelector("code").textContent;
    await navigator.clipboard.writeText(text.replace(/^\$ /gm, ""));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  box.append(button);
}

// Scroll areas can be reached by keyboard where there is something to scroll.
// What goes on beyond the right edge fades there, until it has been scrolled to.
for (const area of document.querySelectorAll(".scroll, pre")) {
  const mark = () => {
    if (area.scrollWidth > area.clientWidth) area.tabIndex = 0;
    area.classList.toggle("more", area.scrollWidth - area.clientWidth - area.scrollLeft > 2);
  };
  area.addEventListener("scroll", mark, { passive: true });
  new ResizeObserver(mark).observe(area);
}

// The contents beside a long page follow the reader.
const links = new Map([...document.querySelectorAll("#toc a")].map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
const heads = [...document.querySelectorAll("main :is(h2, h3)[id]")].filter((h) => links.has(h.id));
function follow() {
  const passed = heads.filter((h) => h.getBoundingClientRect().top < 120);
  const here = passed.length ? links.get(passed[passed.length - 1].id) : null;
  for (const link of links.values()) link.removeAttribute("aria-current");
  if (!here) return;
  here.setAttribute("aria-current", "true");
  const box = document.getElementById("toc");
  const top = here.getBoundingClientRect().top - box.getBoundingClientRect().top;
  if (top < 0 || top > box.clientHeight - 40) box.scrollTop += top - box.clientHeight / 2;
}
if (links.size) {
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; follow(); });
  }, { passive: true });
  follow();
}
document.documentElement.dataset.ready = "yes";
