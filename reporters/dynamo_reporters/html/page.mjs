// What moves on the page: it opens sections, follows links, searches and filters. All that it shows was made by
// Python, and is text: elements are created one by one, never parsed from markup.
'use strict';

const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set(['svg', 'rect', 'path', 'g', 'line', 'title', 'text', 'tspan', 'polygon']);
const TAGS = new Set(('a article aside b br button caption code col colgroup dd details div dl dt em figure h2 h3 h4 h5 li '
  + 'ol p pre section small span strong summary table tbody td tfoot th thead tr ul').split(' '));
const ATTRIBUTES = new Set(('class id href title scope colspan tabindex role width height x y x1 y1 x2 y2 d rx viewBox points '
  + 'preserveAspectRatio text-anchor transform open hidden type rel').split(' '));
const LINKS = /^(#\/|https:\/\/(meta-pytorch\.github\.io\/compile-graph-break-site|docs\.pytorch\.org|pytorch\.org)\/)/;
const MOST_RESULTS = 60;

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/* ---- elements from data ---- */

const unbuilt = new WeakMap(); // elements whose children nobody has looked at yet

function allowed(name, value) {
  if (name === 'href') return LINKS.test(value);
  return ATTRIBUTES.has(name) || name.startsWith('data-') || name.startsWith('aria-');
}

function build(tree, isInSvg = false) {
  if (typeof tree === 'string') return document.createTextNode(tree);
  const [marked, attributes, ...children] = tree;
  const isLater = marked.endsWith('*');
  const tag = isLater ? marked.slice(0, -1) : marked;
  const inSvg = tag === 'svg' || (isInSvg && SVG_TAGS.has(tag));
  if (!inSvg && !TAGS.has(tag)) return document.createTextNode('');
  const element = inSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const name in attributes || {}) {
    if (allowed(name, attributes[name])) element.setAttribute(name, attributes[name]);
  }
  if (isLater) unbuilt.set(element, children);
  else for (const child of children) element.append(build(child, inSvg));
  return element;
}

function complete(element) {
  const children = unbuilt.get(element);
  if (!children) return;
  unbuilt.delete(element);
  for (const child of children) {
    // Of a row or a list of details the summary is there from the start.
    element.append(build(child));
  }
  dress(element);
}

function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  return element;
}

/* ---- the packed sections ---- */

const packed = new Map(all('script[data-route]').map((script) => [script.dataset.route, script]));
const unpacked = new Map();

async function content(route) {
  if (!unpacked.has(route)) {
    const bytes = Uint8Array.from(atob(packed.get(route).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    unpacked.set(route, JSON.parse(await new Response(stream).text()));
  }
  return unpacked.get(route);
}

/* Texts that several graphs have in common are packed once. */
async function include(within) {
  for (const place of all('[data-include]', within)) {
    const route = place.dataset.include;
    place.append(packed.has(route) ? build(await content(route))
      : make('p', 'It did not fit into the page: see "Left out" on the first screen.', {class: 'dim'}));
  }
}

/* ---- routes ---- */

const overview = $('#overview');
const view = $('#view');
let shown = null; // the route that is on the screen
let turn = 0; // the last one asked for wins

function wanted() {
  if (location.hash.startsWith('#/')) return location.hash.slice(2);
  return location.hash ? null : (document.documentElement.dataset.opened || '');
}

async function go() {
  const asked = wanted();
  if (asked === null) return; // an anchor that is no route: the browser's own business
  const mine = ++turn;
  const isOverview = asked === '' || /^(action|finding)\//.test(asked);
  let route = asked, at = '';
  while (route && !isOverview && !packed.has(route)) {
    const cut = route.lastIndexOf('/');
    at = at ? `${route.slice(cut + 1)}/${at}` : route.slice(cut + 1);
    route = cut < 0 ? '' : route.slice(0, cut);
  }
  if (!isOverview && route !== shown) {
    view.setAttribute('aria-busy', 'true');
    let tree = null;
    try {
      tree = route ? await content(route) : ['p', {class: 'warning'}, `This page has nothing at ${decoded(asked)}.`];
    } catch (error) {
      tree = ['p', {class: 'warning'}, `This part of the page is damaged: ${error.message}`];
    }
    if (mine !== turn) return;
    view.replaceChildren(build(tree));
    await include(view);
    if (mine !== turn) return;
    dress(view);
    view.removeAttribute('aria-busy');
  }
  shown = isOverview ? null : route;
  overview.hidden = !isOverview;
  view.hidden = isOverview;
  all('nav a').forEach((link) => {
    const own = link.getAttribute('href').slice(2);
    const isHere = isOverview ? own === '' : asked === own || asked.startsWith(`${own}/`) || sectionOf(asked) === own;
    if (own === '' ? isOverview : isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  });
  tools(isOverview ? overview : view);
  settle(asked, at, isOverview);
}

const sectionOf = (route) => ({graph: 'graphs', compile: 'compiles'})[route.split('/')[0]];

function decoded(route) {
  try { return decodeURIComponent(route); } catch { return route; }
}

function settle(asked, at, isOverview) {
  let target = null;
  if (isOverview && asked) {
    target = document.getElementById(`/${asked}`);
    for (let up = target; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
  } else if (at) target = all('[data-at]', view).find((element) => element.dataset.at === decoded(at));
  all('.target').forEach((element) => element.classList.remove('target'));
  if (target) {
    target.classList.add('target');
    const opener = $('button.line', target);
    if (opener && opener.getAttribute('aria-expanded') === 'false') opener.click();
    target.scrollIntoView({block: 'center'});
    focus(opener || target);
  } else {
    scrollTo(0, 0);
    if (document.activeElement === document.body || !isOverview) focus($('h1, h2', isOverview ? overview : view));
  }
}

function focus(element) {
  if (!element) return;
  if (!element.matches('a, button, input, [tabindex]')) element.tabIndex = -1;
  element.focus({preventScroll: true});
}

/* ---- what is in a section ---- */

function dress(within) {
  for (const code of all('code.command', within)) {
    if (code.nextElementSibling?.classList.contains('copy')) continue;
    const button = make('button', 'copy', {type: 'button', class: 'copy', 'aria-label': `Copy: ${code.textContent}`});
    button.addEventListener('click', () => copy(code, button));
    code.after(button);
  }
  for (const button of all('button.line', within)) button.addEventListener('click', () => toggle(button));
  for (const details of [...all('details', within), ...(within.matches('details') ? [within] : [])]) {
    details.addEventListener('toggle', () => details.open && all('.later', details).forEach(complete));
  }
  for (const timeline of all('.timeline', within)) zoomable(timeline);
}

async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    getSelection().selectAllChildren(code);
    document.execCommand('copy');
  }
  button.textContent = 'copied';
  setTimeout(() => { button.textContent = 'copy'; }, 1500);
}

function toggle(button) {
  const row = button.closest('tr');
  const more = row.nextElementSibling;
  if (!more?.classList.contains('more')) return;
  all('.later', more).forEach(complete);
  more.hidden = !more.hidden;
  button.setAttribute('aria-expanded', String(!more.hidden));
}

/* ---- the timeline ---- */

function zoomable(timeline) {
  if (timeline.classList.contains('small') || $('.zoom', timeline)) return;
  const whole = Number(timeline.dataset.to), length = Number(timeline.dataset.seconds);
  let from = 0, to = whole;
  const said = make('p', 'Choose a slice to read what it is.', {class: 'dim', 'aria-live': 'polite'});
  const controls = make('div', '', {class: 'zoom', role: 'group', 'aria-label': 'Zoom'});
  const set = (left, right) => {
    const width = Math.min(whole, Math.max(whole / 5000, right - left));
    from = Math.min(whole - width, Math.max(0, left));
    to = from + width;
    for (const drawing of all('svg', timeline)) {
      drawing.setAttribute('viewBox', `${from} 0 ${width} ${drawing.getAttribute('height')}`);
    }
    all('.axis span', timeline).forEach((mark, at) => {
      mark.textContent = duration((from + width * at / 4) / whole * length);
    });
  };
  const zoom = (factor, around = (from + to) / 2) => {
    set(around - (around - from) * factor, around + (to - around) * factor);
  };
  const moves = {
    'zoom in': () => zoom(0.5), 'zoom out': () => zoom(2), earlier: () => set(from - (to - from) / 4, to - (to - from) / 4),
    later: () => set(from + (to - from) / 4, to + (to - from) / 4), whole: () => set(0, whole),
  };
  for (const name in moves) {
    const button = make('button', name, {type: 'button'});
    button.addEventListener('click', moves[name]);
    controls.append(button);
  }
  timeline.prepend(controls);
  timeline.append(said);
  timeline.addEventListener('click', (event) => {
    const slice = event.target.closest('rect');
    if (!slice) return;
    all('.chosen', timeline).forEach((other) => other.classList.remove('chosen'));
    slice.classList.add('chosen');
    said.textContent = $('title', slice).textContent;
  });
  timeline.addEventListener('dblclick', (event) => {
    const slice = event.target.closest('rect');
    if (!slice) return;
    const left = Number(slice.getAttribute('x')), width = Number(slice.getAttribute('width'));
    set(left - width / 10, left + width * 1.1);
  });
}

function duration(value) {
  if (value === 0) return '0 s';
  const [factor, unit] = value < 1e-3 ? [1e6, 'µs'] : value < 1 ? [1e3, 'ms'] : [1, 's'];
  return `${Number((value * factor).toPrecision(4))} ${unit}`;
}

/* ---- filter ---- */

const filter = $('#filter'), processes = $('#process');

function tools(within) {
  const names = [...new Set(all('[data-process]', within).map((part) => part.dataset.process))];
  const before = processes.value;
  processes.replaceChildren(new Option('all processes', ''), ...names.map((name) => new Option(name, name)));
  processes.value = names.includes(before) ? before : '';
  processes.hidden = names.length < 2;
  apply();
}

function apply() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const within = view.hidden ? overview : view;
  for (const part of all('[data-process]', within)) {
    part.hidden = Boolean(processes.value) && part.dataset.process !== processes.value;
  }
  let hidden = 0;
  for (const row of all('tbody > tr:not(.more), article, [data-filter]', within)) {
    const text = row.textContent.toLowerCase();
    const fits = words.every((word) => text.includes(word));
    row.classList.toggle('filtered', !fits);
    const more = row.nextElementSibling;
    if (more?.classList.contains('more')) more.classList.toggle('filtered', !fits);
    hidden += !fits;
  }
  $('#filtered').textContent = hidden ? `${hidden} hidden` : '';
}

filter.addEventListener('input', apply);
processes.addEventListener('change', apply);

/* ---- search ---- */

const search = $('#search'), query = $('#query'), results = $('#results');

async function openSearch() {
  search.showModal();
  query.select();
  find(await content('index'));
}

function find(index) {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length
    ? index.filter(([text, kind]) => words.every((word) => `${kind} ${text}`.toLowerCase().includes(word))) : [];
  results.replaceChildren(...found.slice(0, MOST_RESULTS).map(([text, kind, route]) => {
    const item = make('li'), link = make('a', '', {href: `#/${route}`});
    link.append(make('span', kind, {class: 'kind'}), ' ', text);
    item.append(link);
    return item;
  }));
  $('#found').textContent = !words.length ? 'a function, a file, an op, a graph, a compile, a word of the source'
    : found.length > MOST_RESULTS ? `${found.length} found, the first ${MOST_RESULTS} shown` : `${found.length} found`;
}

query.addEventListener('input', async () => find(await content('index')));
search.addEventListener('keydown', (event) => {
  const links = all('a', results), at = links.indexOf(document.activeElement);
  if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (event.key === 'ArrowUp') (at > 0 ? links[at - 1] : query).focus();
  else if (event.key === 'Enter' && at < 0 && links.length) links[0].click();
  else return;
  event.preventDefault();
});
results.addEventListener('click', (event) => event.target.closest('a') && search.close());

/* ---- keys ---- */

const isOpen = (element) => element.offsetParent !== null && !element.closest('details:not([open])');

function step(direction) {
  const within = view.hidden ? overview : view;
  const stops = all('.card, .finding, tr.notable', within).filter(isOpen);
  if (!stops.length) return;
  const here = stops.findLastIndex((element) => element.contains(document.activeElement)); // a finding, not its action
  const next = here < 0 ? (direction > 0 ? 0 : stops.length - 1) : here + direction;
  const target = stops[Math.min(stops.length - 1, Math.max(0, next))];
  target.scrollIntoView({block: 'nearest'});
  focus($('button.line', target) || target);
}

const KEYS = {
  '/': openSearch, j: () => step(1), k: () => step(-1), '?': () => $('#help').showModal(), f: () => filter.focus(),
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $('dialog[open]')) return;
  if (event.target.matches('input, select, textarea')) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  const number = '123456789'.indexOf(event.key);
  const action = KEYS[event.key] || (number >= 0 && all('nav a')[number] ? () => all('nav a')[number].click() : null);
  if (!action) return;
  event.preventDefault();
  action();
});

$('#open-search').addEventListener('click', openSearch);
$('#open-help').addEventListener('click', () => $('#help').showModal());

/* ---- light and dark ---- */

function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
  const dark = name ? name === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  $('#theme').textContent = dark ? 'light' : 'dark';
  $('#theme').setAttribute('aria-label', `Switch to ${dark ? 'light' : 'dark'} colours`);
}

$('#theme').addEventListener('click', () => {
  const name = $('#theme').textContent;
  theme(name);
  try { localStorage.setItem('dynamo-theme', name); } catch { /* a page from a file may have no storage */ }
});
let kept = null;
try { kept = localStorage.getItem('dynamo-theme'); } catch { /* the same */ }
theme(kept === 'dark' || kept === 'light' ? kept : null);

document.documentElement.classList.add('scripted');
dress(overview);
addEventListener('hashchange', go);
go();
