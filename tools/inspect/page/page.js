// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
'use strict';
const { graphs, views } = JSON.parse(document.getElementById('data').textContent);

/** An element with attributes and children, which may be strings. */
function element(name, attributes, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

const number = (x, digits = 0) => x.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/**
 * The operator of graph `to` that is, or computes, operator v of graph `from`; null: there is none. Policies differ in
 * the operators that they open and merge, but operators keep the number of the layer that recorded them.
 */
function twin(v, from, to) {
  if (v === null || from === to) return v;
  const { layer, kind } = graphs[from][v];
  const numbers = (graph, test) => [...graph.keys()].filter(u => graph[u].layer === layer && test(graph[u]));
  const alike = numbers(graphs[to], o => o.kind === kind);
  const place = numbers(graphs[from], o => o.kind === kind).indexOf(v);
  return alike[Math.min(place, alike.length - 1)] ?? numbers(graphs[to], () => true).at(-1) ?? null;
}

/** The visible part of the drawing. Graphs with the same drawing share a camera, so that they move together. */
class Camera {
  constructor(graphs) {
    this.graphs = graphs;
    const { x, y, width, height } = graphs[0].viewBox.baseVal;
    this.paper = { x, y, width, height };
    this.fit();
  }

  show(box) {
    this.box = box;
    for (const svg of this.graphs) svg.setAttribute('viewBox', `${box.x} ${box.y} ${box.width} ${box.height}`);
  }

  fit() {
    this.show({ ...this.paper });
  }

  /** Units of the drawing per pixel of the screen. */
  scale(svg) {
    return Math.max(this.box.width / svg.clientWidth, this.box.height / svg.clientHeight);
  }

  move(svg, dx, dy) {
    const scale = this.scale(svg);
    this.show({ ...this.box, x: this.box.x - dx * scale, y: this.box.y - dy * scale });
  }

  /** Zooms by a factor around a point of the screen. */
  zoom(svg, factor, clientX, clientY) {
    const least = 200, most = 3 * Math.max(this.paper.width, this.paper.height);
    const width = Math.min(Math.max(this.box.width * factor, least), most), ratio = width / this.box.width;
    const screen = svg.getBoundingClientRect();
    const at = new DOMPoint(clientX ?? screen.x + screen.width / 2, clientY ?? screen.y + screen.height / 2)
      .matrixTransform(svg.getScreenCTM().inverse());
    this.show({
      x: at.x - (at.x - this.box.x) * ratio, y: at.y - (at.y - this.box.y) * ratio, width, height: this.box.height * ratio,
    });
  }

  /** Centres an operator at a readable size, unless it is already visible. */
  reveal(svg, op) {
    const { x, y, width, height } = op.getBBox(), { box } = this;
    const readable = this.scale(svg) < 1.5;
    const inside = x > box.x && y > box.y && x + width < box.x + box.width && y + height < box.y + box.height;
    if (readable && inside) return;
    const zoom = readable ? 1 : 1 / this.scale(svg);
    const w = box.width * zoom, h = box.height * zoom;
    this.show({ x: x + width / 2 - w / 2, y: y + height / 2 - h / 2, width: w, height: h });
  }
}

/** The graph and the tables of one policy. */
class View {
  constructor(root, policy) {
    this.root = root;
    this.policy = policy;
    this.operators = graphs[policy.graph];
    this.svg = root.querySelector('.graph > svg');
    this.details = root.querySelector('.details');
    this.ops = [...this.svg.querySelectorAll('.op')];
    this.edges = [...this.svg.querySelectorAll('.edges path')];
    this.stepRows = [...root.querySelectorAll('tr[data-step]')];
    this.subgraphRows = [...root.querySelectorAll('tr[data-subgraph]')];
    this.show(null);
  }

  /** Marks the operators of a step, or of a subgraph. */
  mark(members, what) {
    for (const op of this.ops) op.classList.toggle(what, members.includes(Number(op.dataset.op)));
  }

  /** Shows only one subgraph; null: all. */
  single(subgraph) {
    this.svg.classList.toggle('one', subgraph !== null);
    this.mark(subgraph === null ? [] : [...this.operators.keys()].filter(v => this.policy.subgraph[v] === subgraph), 'member');
    this.subgraphRows.forEach((row, k) => row.classList.toggle('chosen', k === subgraph));
  }

  /** Marks the selected operator; null: none. */
  select(v, lost) {
    const step = v === null ? -1 : this.policy.step[v];
    this.single(null);
    this.chooseStep(step);
    for (const op of this.ops) op.classList.toggle('selected', Number(op.dataset.op) === v);
    for (const edge of this.edges)
      edge.classList.toggle('near', v !== null && [edge.dataset.from, edge.dataset.to].includes(String(v)));
    this.show(v, lost);
  }

  chooseStep(step) {
    this.mark(step < 0 ? [] : this.policy.steps[step].operators, 'together');
    this.stepRows.forEach((row, k) => row.classList.toggle('chosen', k === step));
    const row = this.stepRows[step];
    if (!row) return;
    const frame = row.closest('.scroll'), head = frame.querySelector('thead').offsetHeight;
    if (row.offsetTop - head < frame.scrollTop) frame.scrollTop = row.offsetTop - head;
    const over = row.offsetTop + row.offsetHeight - frame.clientHeight;
    if (over > frame.scrollTop) frame.scrollTop = over;
  }

  /** "20 depthwise" */
  label(v) {
    return `${v} ${this.operators[v].label}`;
  }

  /** Describes an operator and its step. `lost`: the selected operator is only in another view. */
  show(v, lost = false) {
    if (v === null) {
      const hint = lost ? 'This policy has merged this operator into another one.'
        : 'Point at an operator to see its description here; click to keep it.';
      this.details.replaceChildren(element('p', { className: 'hint' }, hint));
      return;
    }
    const o = this.operators[v], step = this.policy.step[v], list = element('dl', {});
    const line = (term, ...what) => list.append(element('dt', {}, term), element('dd', {}, ...what));
    const links = all => all.length ? all.map(u => {
      const link = element('button', { type: 'button' }, this.label(u));
      link.dataset.op = u;
      return link;
    }) : ['none'];
    if (o.name) line('name', o.name);
    line('value', o.extents);
    if (o.details) line('parameters', o.details);
    if (this.policy.subgraph[v] >= 0) {
      line('weight', number(o.weight, 1));
      if (o.multiplyAdds) line('multiply-adds', number(o.multiplyAdds));
      line('subgraph', `${this.policy.subgraph[v]}, mini-subgraph ${this.policy.mini[v]}`);
      this.describeStep(line, step);
    }
    line('reads', ...links(o.operands));
    line('read by', ...links(o.readers));
    if (o.line) line('source line', String(o.line));
    this.details.replaceChildren(element('h4', {}, this.label(v)), list);
  }

  describeStep(line, step) {
    if (step < 0) {
      line('step', 'none: its value is a view of others, or is written where it is read');
      return;
    }
    const s = this.policy.steps[step], { cycles } = this.policy;
    line('step', `${step}, ${s.kernel}${s.tile ? `, ${s.tile} at a time` : ''}`);
    for (const part of s.parts) line('', `${part.kernel}: ${part.layers}${part.details ? `; ${part.details}` : ''}`);
    line('its cost', `${number(s.multiplyAdds)} multiply-adds, ${number(s.bytesRead)} bytes read, ${number(s.bytesWritten)} `
      + `written; ${number(100 * s.cycles / cycles, 1)}\u00a0% of the ${number(cycles)} cycles predicted for all steps`);
  }

  search(found) {
    this.svg.classList.toggle('searching', found !== null);
    this.mark(found ?? [], 'match');
  }
}

const all = [...document.querySelectorAll('.view')].map((root, k) => new View(root, views[k]));
const cameras = graphs.map((graph, k) => graph && new Camera(all.filter(view => view.policy.graph === k).map(view => view.svg)));
let selected = null, selectedIn = 0, found = null;  // selected: an operator's number in the graph selectedIn

/** Calls act(view, number) for each view, with the view's own number of operator v of a graph. */
function forEachView(v, graph, act) {
  for (const view of all) {
    const own = twin(v, graph, view.policy.graph);
    act(view, own, own === null && v !== null);
  }
}

function select(v, graph, reveal = true) {
  selected = v;
  selectedIn = graph;
  forEachView(v, graph, (view, own, lost) => view.select(own, lost));
  const seen = new Set();
  forEachView(v, graph, (view, own) => {
    const { graph: drawn } = view.policy;
    if (own === null || seen.has(drawn) || (!reveal && drawn === graph)) return;
    seen.add(drawn);
    cameras[drawn].reveal(view.svg, view.ops[own]);
  });
  const address = location.href.split('#')[0] + (v === null ? '' : `#op=${v}${graph ? `&graph=${graph}` : ''}`);
  try { history.replaceState(null, '', address); } catch { /* some environments do not allow changing the address */ }
}

/** Up: first operand; down: first reader; left and right: previous and next operator. */
function walk(key, graph) {
  const at = twin(selected, selectedIn, graph);
  if (at === null) return select(0, graph);
  const { operands, readers } = graphs[graph][at];
  if (key === 'ArrowUp' && operands.length) return select(operands[0], graph);
  if (key === 'ArrowDown' && readers.length) return select(readers[0], graph);
  if (key === 'ArrowLeft' && at > 0) return select(at - 1, graph);
  if (key === 'ArrowRight' && at + 1 < graphs[graph].length) return select(at + 1, graph);
}

for (const view of all) {
  const { svg, policy: { graph } } = view, camera = cameras[graph];
  let drag = null;
  svg.addEventListener('pointerdown', event => {
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY, moved: 0 };
  });
  svg.addEventListener('pointermove', event => {
    if (!drag) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    drag = { x: event.clientX, y: event.clientY, moved: drag.moved + Math.abs(dx) + Math.abs(dy) };
    if (drag.moved < 4) return;
    if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
    svg.classList.add('dragged');
    camera.move(svg, dx, dy);
  });
  const release = event => {
    const moved = drag && drag.moved >= 4;
    drag = null;
    svg.classList.remove('dragged');
    if (moved || event.type !== 'pointerup' || event.button !== 0) return;
    const op = event.target.closest('.op');
    select(op ? Number(op.dataset.op) : null, graph, false);
  };
  svg.addEventListener('pointerup', release);
  svg.addEventListener('pointercancel', release);
  svg.addEventListener('pointerover', event => {
    const op = event.target.closest('.op');
    if (op && !drag) forEachView(Number(op.dataset.op), graph, (v, own, lost) => v.show(own, lost));
  });
  svg.addEventListener('pointerout', event => {
    if (event.target.closest('.op')) forEachView(selected, selectedIn, (v, own, lost) => v.show(own, lost));
  });
  svg.addEventListener('wheel', event => {
    event.preventDefault();
    camera.zoom(svg, Math.exp(event.deltaY * (event.deltaMode ? .05 : .0015)), event.clientX, event.clientY);
  }, { passive: false });
  svg.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith('Arrow')) walk(event.key, graph);
    else if (event.key === '+' || event.key === '=') camera.zoom(svg, 1 / 1.3);
    else if (event.key === '-') camera.zoom(svg, 1.3);
    else if (event.key === '0') camera.fit();
    else return;
    event.preventDefault();
  });
  view.root.querySelector('.zoom').addEventListener('click', event => {
    const how = event.target.dataset.zoom;
    if (how === 'fit') camera.fit();
    else if (how) camera.zoom(svg, how === 'in' ? 1 / 1.3 : 1.3);
  });
  view.details.addEventListener('click', event => {
    if (event.target.dataset.op) select(Number(event.target.dataset.op), graph);
  });
  view.root.querySelector('.steps').addEventListener('click', event => {
    const row = event.target.closest('tr[data-step]'), step = row && view.policy.steps[row.dataset.step];
    if (step && step.operators.length) select(step.operators[0], graph);
  });
  view.root.querySelector('.subgraphs').addEventListener('click', event => {
    const row = event.target.closest('tr[data-subgraph]');
    if (row) view.single(row.classList.contains('chosen') ? null : Number(row.dataset.subgraph));
  });
}

const field = document.getElementById('search'), counter = document.getElementById('found');

function find() {
  const words = field.value.trim().toLowerCase().split(/\s+/).filter(word => word);
  found = !words.length ? null : graphs.map(graph => graph && [...graph.keys()].filter(v => {
    const o = graph[v], text = `${v} ${o.kind} ${o.label} ${o.name} ${o.extents} ${o.details}`.toLowerCase();
    return words.every(word => text.includes(word));
  }));
  const counts = found ? found.filter(matches => matches).map(matches => matches.length) : [];
  counter.value = found === null ? '' : `${counts.join(' and ')} operator${counts.join() === '1' ? '' : 's'}`;
  for (const view of all) view.search(found && found[view.policy.graph]);
}

field.addEventListener('input', find);
field.form.addEventListener('submit', event => {
  event.preventDefault();
  const graph = found ? found.findIndex(matches => matches && matches.length) : -1;
  if (graph < 0) return;
  const at = twin(selected, selectedIn, graph);
  select(found[graph].find(v => at === null || v > at) ?? found[graph][0], graph);
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && event.target !== field) {
    field.focus();
    event.preventDefault();
  } else if (event.key === 'Escape') {
    field.value = '';
    find();
    select(null, 0);
  }
});

function follow() {
  const [, op, graph = 0] = /^#op=(\d+)(?:&graph=(\d+))?$/.exec(location.hash) ?? [];
  if (Number(op) < (graphs[graph] ?? []).length) select(Number(op), Number(graph));
}
addEventListener('hashchange', follow);
follow();
