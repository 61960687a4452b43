// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page: tabs, colours, selection, search.
'use strict';

const views = JSON.parse(document.getElementById('data').textContent), shortest = 150;  // steps of a network that is folded
const card = document.getElementById('card'), details = document.getElementById('details');
let current = 0, measure = 'time';
document.body.classList.add('scripted');

/** What a step computes, as rows of a list. `whole`: with its costs and its neighbours. */
function describe(view, step, whole) {
  const s = view.steps[step], all = view.steps.reduce((sum, other) => sum + other.time, 0);
  const list = element('dl', {}), line = (term, ...what) => list.append(element('dt', {}, term), element('dd', {}, ...what));
  line('predicted', `${timeText(s.time)}, ${number(100 * s.time / all, 1)}\u00a0%`);
  line('beyond L2', `${bytesText(s.beyondL2)}; beyond L1 ${bytesText(s.beyondL1)}`);
  if (whole) {
    line('used', `${bytesText(s.read)} read, ${bytesText(s.written)} written; ${number(s.multiplyAdds)} multiply-adds`);
    const links = (term, steps) => steps.length && line(term, ...[...new Set(steps)].map(to => {
      const link = element('button', { type: 'button' }, `step ${to}`);
      link.dataset.to = to;
      return link;
    }));
    links('reads', view.flows.filter(([from, to]) => to === step && from >= 0).map(([from]) => from));
    links('read by', view.flows.filter(([from, to]) => from === step && to >= 0).map(([, to]) => to));
  }
  if (s.subgraph >= 0) line('subgraph', `${s.subgraph}, weight ${number(view.subgraphs[s.subgraph].weight, 1)}`);
  for (const part of s.parts) {
    const [pixels, vectors] = part.tile, tile = pixels * vectors > 1 ? `; register tile ${pixels}x${vectors}` : '';
    const operators = part.operators.map(v => {
      const o = view.operators[v], where = [`layer ${o.layer}`, o.line ? `line ${o.line}` : ''].filter(t => t).join(', ');
      return element('li', {}, span('label', `${v} ${o.label}`), ` ${o.extents}`, o.details ? `, ${o.details}` : '',
        span('where', ` ${[o.name, where].filter(t => t).join('; ')}`));
    });
    line(part.kernel, `${part.reads} > ${part.writes}${tile}`, element('ul', {}, ...operators));
  }
  const tiling = tilingOf(s);
  return [element('h3', {}, `Step ${step}: ${kernelsOf(s)}${tiling ? ` (${tiling})` : ''}`), list];
}

/** One policy: its graph, strips and table. */
class View {
  constructor(root, view, k) {
    Object.assign(this, { root, view, rows: [...root.querySelectorAll('tr[data-step]')] });
    view.number = k;
    this.selected = null;
    this.graph = new Graph(root.querySelector('.graph'), view);
    this.strips = new Strips(root.querySelector('.strips'), view);
    this.folds = repetitions(view.steps, view.flows);
    const fold = view.steps.length > shortest;
    for (const f of this.folds) f.open = !fold;
    this.listen();
  }

  draw() {
    if (!this.root.clientWidth) return;  // not visible
    this.graph.draw(this.folds);
    this.strips.draw();
    this.colour();
    this.select(this.selected);
    this.drawFolds();
    this.search();
  }

  /** The buttons that fold and unfold. */
  drawFolds() {
    const bar = this.root.querySelector('.folds');
    if (!this.folds.length) return;
    bar.replaceChildren(span('', 'Repeated blocks:'), ...this.folds.map((f, k) => {
      const text = `${f.copies} \u00d7 ${f.period} ${f.period === 1 ? 'step' : 'steps'} from ${f.first}`;
      const button = element('button', { type: 'button' }, text, span('', f.open ? ' fold' : ' unfold'));
      button.dataset.fold = k;
      button.setAttribute('aria-pressed', !f.open);
      return button;
    }));
  }

  turn(fold, open = !fold.open) {
    fold.open = open;
    this.draw();
  }

  colour() {
    this.graph.colour(measure);
    this.strips.colour(measure);
  }

  /** Marks a step everywhere; null: none. */
  select(step) {
    this.selected = step;
    this.graph.select(step);
    this.strips.select(step);
    this.rows.forEach((row, k) => row.classList.toggle('chosen', k === step));
  }

  reveal() {
    if (this.selected === null) return;
    const { element: box } = this.graph.itemOf(this.selected), { top, bottom } = box.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight - (details.hidden ? 0 : details.offsetHeight)) box.scrollIntoView({ block: 'center' });
  }

  /** Marks the boxes with operators that the search has found. */
  search() {
    const { items, root } = this.graph;
    root.classList.toggle('searching', found !== null);
    for (const item of items)
      item.element.classList.toggle('match', found !== null && item.steps.some(step => found[current].includes(step)));
  }

  listen() {
    const { graph, strips, root } = this;
    const stepOf = event => {
      const box = event.target.closest('.box[data-step]');
      return box ? Number(box.dataset.step) : strips.root.contains(event.target) ? strips.stepAt(event.clientX) : null;
    };
    const point = event => showCard(this, stepOf(event), event);
    for (const place of [graph.root, strips.root]) {
      place.addEventListener('pointermove', point);
      place.addEventListener('pointerleave', () => showCard(this, null));
    }
    graph.root.addEventListener('click', event => {
      const item = graph.items.find(other => other.element.contains(event.target));
      if (event.target.closest('.unfold')) this.turn(item.fold, true);
      else select(item && item.steps.length ? item.steps[0] : null, false);
    });
    strips.root.addEventListener('click', event => select(stepOf(event), false));
    root.querySelector('table').addEventListener('click', event => {
      const row = event.target.closest('tr[data-step]');
      if (row) select(Number(row.dataset.step), false);
    });
    root.querySelector('.folds').addEventListener('click', event => {
      const button = event.target.closest('button');
      if (button) this.turn(this.folds[button.dataset.fold]);
    });
    graph.root.addEventListener('keydown', event => this.key(event));
  }

  /** Up: the first step that is read; down: the first reader; left and right: previous and next. */
  key(event) {
    const item = this.graph.items.find(other => other.element === event.target);
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const { items, edges } = this.graph, drawn = items.filter(other => other.steps.length), at = drawn.indexOf(item);
    const to = {
      ArrowUp: () => edges.find(edge => edge.to === item && edge.from.steps.length)?.from,
      ArrowDown: () => edges.find(edge => edge.from === item && edge.to.steps.length)?.to,
      ArrowLeft: () => drawn[at - 1], ArrowRight: () => drawn[at + 1],
    }[event.key];
    if (to) {
      const next = to() ?? item;
      select(next.steps[0]);
      next.element.focus();
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (item.fold) this.turn(item.fold, true);
      select(item.steps[0]);
      this.graph.itemOf(item.steps[0]).element.focus();
    } else return;
    event.preventDefault();
  }
}

/** A card next to the pointer, unless the step is shown in full. */
function showCard(view, step, event) {
  card.hidden = step === null || step === view.selected;
  if (card.hidden) return;
  const shown = `${current} ${step}`;
  if (card.dataset.shown !== shown) card.replaceChildren(...describe(view.view, step, false));
  card.dataset.shown = shown;
  const { width, height } = card.getBoundingClientRect(), { clientX, clientY } = event;
  card.style.left = `${Math.max(4, Math.min(clientX + 18, innerWidth - width - 12))}px`;
  card.style.top = `${clientY + 18 + height < innerHeight ? clientY + 18 : Math.max(4, clientY - height - 14)}px`;
}

const all = [...document.querySelectorAll('.view')].map((root, k) => new View(root, views[k], k));
const tabs = [...document.querySelectorAll('[role=tab]')], field = document.getElementById('search');
let found = null;  // the steps with matching operators, in each view

function select(step, reveal = true) {
  const view = all[current];
  view.select(step);
  card.hidden = true;
  details.hidden = step === null;
  if (step !== null) {
    const close = element('button', { type: 'button', className: 'close', title: 'close (Escape)' }, '\u00d7');
    details.replaceChildren(close, ...describe(view.view, step, true));
  }
  document.body.style.paddingBottom = `${details.offsetHeight}px`;
  if (reveal) view.reveal();
  const fragment = [step === null ? '' : `step=${step}`, current ? `policy=${current}` : ''].filter(text => text).join('&');
  try {
    history.replaceState(null, '', location.href.split('#')[0] + (fragment && `#${fragment}`));
  } catch { /* some environments do not allow changing the address */ }
}

details.addEventListener('click', event => {
  if (event.target.closest('.close')) select(null);
  else if (event.target.dataset.to) select(Number(event.target.dataset.to));
});

/** Shows one policy. */
function show(k) {
  current = k;
  all.forEach((view, other) => view.root.classList.toggle('hidden', other !== k));
  tabs.forEach((tab, other) => {
    tab.setAttribute('aria-selected', other === k);
    tab.tabIndex = other === k ? 0 : -1;
  });
  all[k].draw();
  find();
  colour();
  select(all[k].selected, false);
}

tabs.forEach((tab, k) => {
  tab.addEventListener('click', () => show(k));
  tab.addEventListener('keydown', event => {
    const to = { ArrowLeft: k - 1, ArrowRight: k + 1 }[event.key];
    if (to === undefined) return;
    const next = (to + tabs.length) % tabs.length;
    show(next);
    tabs[next].focus();
  });
});

/** The scale of the colours is that of the policy that is shown. */
function colour() {
  const { of, text, name } = measures[measure];
  document.body.dataset.measure = measure;
  document.getElementById('most').textContent = `${text(Math.max(...views[current].steps.map(of)))} in a step`;
  document.querySelector('.scale').title = name;
  all[current].colour();
}
for (const choice of document.getElementsByName('measure')) {
  if (choice.checked) measure = choice.value;  // browsers keep it when the page is loaded again
  choice.addEventListener('change', () => {
    measure = choice.value;
    colour();
  });
}

function find() {
  const words = field.value.trim().toLowerCase().split(/\s+/).filter(word => word);
  const textOf = (o, v) => `${v} ${o.kind} ${o.label} ${o.name} ${o.extents} ${o.details}`.toLowerCase();
  const matches = (o, v) => words.every(word => textOf(o, v).includes(word));
  const count = view => view.operators.filter(matches).length;
  found = !words.length ? null : views.map(view => [...view.steps.keys()].filter(step =>
    view.steps[step].parts.some(part => part.operators.some(v => matches(view.operators[v], v)))));
  const here = found && count(views[current]);
  const text = found && `${here} operator${here === 1 ? '' : 's'} in ${found[current].length} steps`;
  document.getElementById('found').value = text ?? '';
  all[current].search();
}

field.addEventListener('input', find);
field.form.addEventListener('submit', event => {
  event.preventDefault();
  const steps = found?.[current] ?? [], { selected } = all[current];
  if (steps.length) select(steps.find(step => selected === null || step > selected) ?? steps[0]);
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && event.target !== field) {
    field.focus();
    event.preventDefault();
  } else if (event.key === 'Escape') {
    field.value = '';
    find();
    select(null);
  }
});

/** Shows what the address names: "#step=7&policy=1". */
function follow() {
  const address = new URLSearchParams(location.hash.slice(1));
  const number = name => address.has(name) ? Number(address.get(name)) : -1;
  const policy = number('policy') in all ? number('policy') : 0, step = number('step');
  all[policy].selected = step in views[policy].steps ? step : null;
  show(policy);
  all[policy].reveal();
}

let width = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === width) return;
  width = innerWidth;
  all[current].draw();
});
const print = on => () => {
  document.body.classList.toggle('printed', on);
  all[current].draw();
};
addEventListener('beforeprint', print(true));
addEventListener('afterprint', print(false));
addEventListener('hashchange', follow);
follow();
