// Search without a server, what a dot stands for, and buttons that copy. PAGES comes from search-index.js: a row per paper, statement and figure.
"use strict";
const MOST = 12, LETTERS = 200;
const FILTERS = "Words, or filters: is:false  is:open  paper:li2018  kind:lemma  uses:>90%";
const input = document.querySelector(".search input");
const box = document.querySelector(".hits");
const list = box.querySelector("ol");
const says = box.querySelector("p");
const inOneFile = "oneFile" in document.body.dataset;

const fold = text => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/([a-z]{3,})is(e|es|ed|ing|ation|ations)\b/g, "$1iz$2");
for (const page of PAGES) page.all = fold([page.title, page.place, page.id, page.paper, page.kind, page.is, page.text, page.more].join(" "));

const hrefOf = page => inOneFile ? "#" + page.page.replace(/\.html$/, "") : document.body.dataset.root + page.page;
const amount = value => value === "Infinity" ? Infinity : value;

// "uses:>90%", "uses:<=0.5"; a plain number means at least so much, and while a number is missing all pages are meant.
function usesFilter(text) {
  if (/^[<>=]*$/.test(text)) return () => true;
  const found = /^(>=|<=|>|<|=)?([0-9]+\.?[0-9]*|\.[0-9]+)(%?)$/.exec(text);
  if (!found) return null;
  const limit = Number(found[2]) / (found[3] ? 100 : 1);
  const compare = { ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "=": (a, b) => a === b };
  return page => page.uses !== null && compare[found[1] || ">="](amount(page.uses), limit);
}

const KINDS = { theorem: "main result", lemma: "proof step", step: "proof step", main: "main result" };

// Every word is a filter or has to occur somewhere.
function conditions(text) {
  return fold(text).split(/\s+/).filter(Boolean).map(word => {
    const [, name, value] = /^(is|paper|kind|uses):(.*)$/.exec(word) || [];
    if (!name) return page => page.all.includes(word);
    if (!value) return () => true;
    if (name === "uses") return usesFilter(value) || (() => false);
    if (name === "kind") return page => page.kind.includes(value) || page.kind === KINDS[value] || (!/^(figure|paper)$/.test(value) && fold(page.place).includes(value));
    return page => fold(page[name]).includes(value);
  });
}

// A filter that cannot be read, or "".
const notUnderstood = text => fold(text).split(/\s+/).find(word => word.startsWith("uses:") && !usesFilter(word.slice(5))) || "";

const find = text => {
  const met = conditions(text);
  return PAGES.filter(page => met.every(each => each(page)));
};

// How many letters must be changed, added, left out or exchanged with their neighbour.
function distance(a, b) {
  let before = [], last = [], row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    [before, last, row] = [last, row, [i]];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.length];
}

let words;
const NAMES = { is: page => page.is.split(" "), paper: page => [page.paper], kind: page => [...page.kind.split(" "), ...Object.keys(KINDS)] };

// The words that a misspelt one may be, nearest first, then those on most pages; of a filter, its values.
function nearest(word) {
  const [, name, value] = /^(is|paper|kind):(.+)$/.exec(word) || [null, "", word], counts = new Map();
  if (!words) words = PAGES.map(page => new Set(page.all.match(/[a-z]{4,}[0-9]*/g)));
  PAGES.forEach((page, at) => { for (const each of name ? new Set(NAMES[name](page)) : words[at]) counts.set(each, (counts.get(each) || 0) + 1); });
  const most = value.length < 4 ? 0 : value.length < 8 ? 1 : 2;
  return [...counts.keys()].filter(each => Math.abs(each.length - value.length) <= most)
    .map(each => [distance(value, each), -counts.get(each), each]).filter(([far]) => far > 0 && far <= most)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : 1)).map(([, , each]) => (name ? name + ":" : "") + each);
}

// Searches that find something, with each word that no page has replaced by one near it.
function suggestions(text) {
  const given = fold(text).split(/\s+/).filter(Boolean), near = given.map(each => find(each).length ? [each] : nearest(each));
  if (near.some(each => !each.length)) return [];
  const first = near.map(each => each[0]);
  const tries = [first, ...near.flatMap((each, at) => each.slice(1, 3).map(other => first.with(at, other)))];
  return tries.map(each => each.join(" ")).filter(each => each !== given.join(" ") && find(each).length).slice(0, 3);
}

// A place or a name that is asked for comes first, then main results.
const spaced = text => fold(text).replace(/[._\s]+/g, " ").trim();
function rank(page, asked) {
  if (spaced(page.id.slice(page.id.indexOf(".") + 1)) === asked || spaced(page.title) === asked) return 0;
  return spaced(page.place) === asked ? 1 : page.mark.includes("main") ? 2 : 3;
}

// "α_0" and "e^{−c}" with their index and exponent set; names of programs have longer words before a line.
function typeset(element, text) {
  for (const piece of text.split(/(?<![A-Za-z]{2})([_^](?:\{[^{}]*\}|\d+|[^\s]))/u)) {
    if (!/^[_^]./u.test(piece)) { element.append(piece); continue; }
    const set = document.createElement(piece[0] === "_" ? "sub" : "sup");
    set.textContent = piece.slice(1).replace(/[{}]/g, "");
    element.append(set);
  }
}

function row(page) {
  const item = document.createElement("li"), link = document.createElement("a"), dot = document.createElement("i");
  const name = document.createElement("span"), small = document.createElement("small");
  dot.className = "d " + page.mark;
  dot.setAttribute("aria-hidden", "true");
  link.href = hrefOf(page);
  typeset(name, page.title);
  const text = page.text.length > LETTERS ? page.text.slice(0, LETTERS).trimEnd() + "…" : page.text;
  typeset(small, [page.place, page.paper, page.is, text].filter(Boolean).join(" · "));
  link.append(dot, name, small);
  item.append(link);
  return item;
}

function suggestion(text) {
  const item = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.addEventListener("click", () => { input.value = text; show(); input.focus(); });
  item.append(button);
  return item;
}

function show(most = MOST) {
  list.replaceChildren();
  box.hidden = document.activeElement !== input && !input.value;
  if (!input.value.trim()) {
    says.textContent = FILTERS;
    return;
  }
  const unread = notUnderstood(input.value);
  if (unread) {
    says.textContent = `“${unread}” is not understood. Write a share, such as uses:>90% or uses:<=0.5.`;
    return;
  }
  const hits = find(input.value);
  const asked = spaced(input.value);
  hits.sort((a, b) => rank(a, asked) - rank(b, asked));
  const near = hits.length ? [] : suggestions(input.value);
  says.textContent = hits.length ? `${hits.length} found` : near.length ? "Nothing found. Did you mean" : `Nothing found. ${FILTERS}`;
  list.append(...near.map(suggestion));
  list.append(...hits.slice(0, most).map(row));
  if (hits.length > most) {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = `Show ${hits.length - most} more`;
    button.addEventListener("click", () => { show(Infinity); list.querySelectorAll("a")[most].focus(); });
    item.append(button);
    list.append(item);
  }
}

function close() {
  input.value = "";
  show();
  box.hidden = true;
}

input.addEventListener("input", () => show());
input.addEventListener("focus", () => show());
document.addEventListener("click", event => { if (!event.target.closest(".search")) box.hidden = true; });
list.addEventListener("click", event => { if (inOneFile && event.target.closest("a")) close(); });
addEventListener("keydown", event => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    input.focus();
    return;
  }
  if (event.key === "Escape" && !told.hidden) {
    untell();
    return;
  }
  if (event.key === "Escape" && !box.hidden) {
    close();
    input.blur();
    return;
  }
  if (!event.target.closest || !event.target.closest(".search")) return;
  const places = [input, ...list.querySelectorAll("a, button")], at = places.indexOf(document.activeElement);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    places[Math.min(places.length - 1, Math.max(0, at + (event.key === "ArrowDown" ? 1 : -1)))].focus();
  } else if (event.key === "Enter" && at === 0 && places.length > 1) {
    event.preventDefault();
    places[1].click();
  }
});

// What a dot stands for, beside it: under the pointer, with the keyboard on it, and at the first tap; the second follows it.
const told = document.createElement("p");
told.className = "told";
told.hidden = true;
told.setAttribute("aria-hidden", "true"); // the link has these words
document.body.append(told);
let pointed = null;
function tell(dot, more = "") {
  pointed = dot;
  told.textContent = dot.textContent + more;
  told.hidden = false;
  const place = dot.getBoundingClientRect(), wide = document.documentElement.clientWidth;
  told.style.left = told.style.top = "0";
  told.style.left = `${scrollX + Math.max(8, Math.min(place.left + place.width / 2 - told.offsetWidth / 2, wide - told.offsetWidth - 8))}px`;
  told.style.top = `${scrollY + (place.top > told.offsetHeight + 12 ? place.top - told.offsetHeight - 6 : place.bottom + 6)}px`;
}
function untell() {
  pointed = null;
  told.hidden = true;
}
for (const grid of document.querySelectorAll(".grid")) {
  const dotOf = event => event.target.closest(".cell a.d");
  let touched = false;
  grid.addEventListener("pointerdown", event => { touched = event.pointerType === "touch"; });
  grid.addEventListener("pointerover", event => { if (event.pointerType === "mouse" && dotOf(event)) tell(dotOf(event)); });
  grid.addEventListener("pointerout", event => { if (event.pointerType === "mouse" && event.relatedTarget !== told) untell(); });
  grid.addEventListener("focusin", event => { if (dotOf(event) && !touched) tell(dotOf(event)); });
  grid.addEventListener("focusout", untell);
  grid.addEventListener("click", event => {
    const dot = dotOf(event);
    if (!touched || !dot || dot === pointed) return;
    event.preventDefault();
    tell(dot, ". Tap again to open its page.");
  });
}
told.addEventListener("pointerleave", untell);
document.addEventListener("pointerdown", event => { if (!event.target.closest(".cell a.d")) untell(); });

for (const button of document.querySelectorAll("button.copy")) {
  const words = button.textContent;
  button.addEventListener("click", async () => {
    const pre = button.nextElementSibling;
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(pre);
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected: copy it with the keyboard";
    }
    setTimeout(() => { button.textContent = words; }, 2000);
  });
}

if (inOneFile) {
  // The bar and the title follow the page that is shown.
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const leaf = target ? target.closest(".leaf") : document.querySelector(".leaf");
    if (!leaf) return;
    document.title = `${leaf.dataset.title} · widenet`;
    if (target === leaf) scrollTo(0, 0);
  };
  addEventListener("hashchange", follow);
  follow();
}
