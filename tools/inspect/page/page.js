// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
'use strict';
const { operators, views } = JSON.parse(document.getElementById('data').textContent);

/** An element with attributes and children, which may be texts. */
function element(name, attributes, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

const number = (x, digits = 0) => x.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const label = v => `${v} ${operators[v].kind}`;

/** What part of the paper the graphs show: one window for all of them, so that they stay side by side. */
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

  /** Units of paper for a pixel of the screen. */
  scale(svg) {
    return Math.max(this.box.width / svg.clientWidth, this.box.height / svg.clientHeight);
  }

  move(svg, dx, dy) {
    const scale = this.scale(svg);
    this.show({ ...this.box, x: this.box.x - dx * scale, y: this.box.y - dy * scale });
  }

  /** Zooms by a factor; a point, of the screen, stays where it is. */
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

  /** Brings an operator to the middle, large enough to be read, unless it can be seen already. */
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

  /** Shows one subgraph alone; null: all. */
  single(subgraph) {
    this.svg.classList.toggle('one', subgraph !== null);
    this.mark(subgraph === null ? [] : [...operators.keys()].filter(v => this.policy.subgraph[v] === subgraph), 'member');
    this.subgraphRows.forEach((row, k) => row.classList.toggle('chosen', k === subgraph));
  }

  /** What is selected: an operator, or nothing. */
  select(v) {
    const step = v === null ? -1 : this.policy.step[v];
    this.single(null);
    this.chooseStep(step);
    for (const op of this.ops) op.classList.toggle('selected', Number(op.dataset.op) === v);
    for (const edge of this.edges)
      edge.classList.toggle('near', v !== null && [edge.dataset.from, edge.dataset.to].includes(String(v)));
    this.show(v);
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

  /** Describes an operator and its step. */
  show(v) {
    if (v === null) {
      this.details.replaceChildren(element('p', { className: 'hint' }, 'Point at an operator to read about it here, click on it to keep it.'));
      return;
    }
    const o = operators[v], step = this.policy.step[v], list = element('dl', {});
    const line = (term, ...what) => list.append(element('dt', {}, term), element('dd', {}, ...what));
    const links = all => all.length ? all.map(u => {
      const link = element('button', { type: 'button' }, label(u));
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
    this.details.replaceChildren(element('h4', {}, label(v)), list);
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
const camera = new Camera(all.map(view => view.svg));
let selected = null, found = null;

function select(v, reveal = true) {
  selected = v;
  for (const view of all) view.select(v);
  if (v !== null && reveal) camera.reveal(all[0].svg, all[0].ops[v]);
  const address = location.href.split('#')[0] + (v === null ? '' : `#op=${v}`);
  try { history.replaceState(null, '', address); } catch { /* not every place where a page is shown has an address */ }
}

/** Up to the first operand, down to the first reader, left and right to the operators before and after. */
function walk(key) {
  if (selected === null) return select(0);
  const { operands, readers } = operators[selected];
  if (key === 'ArrowUp' && operands.length) return select(operands[0]);
  if (key === 'ArrowDown' && readers.length) return select(readers[0]);
  if (key === 'ArrowLeft' && selected > 0) return select(selected - 1);
  if (key === 'ArrowRight' && selected + 1 < operators.length) return select(selected + 1);
}

for (const view of all) {
  const { svg } = view;
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
    select(op ? Number(op.dataset.op) : null, false);
  };
  svg.addEventListener('pointerup', release);
  svg.addEventListener('pointercancel', release);
  svg.addEventListener('pointerover', event => {
    const op = event.target.closest('.op');
    if (op && !drag) for (const v of all) v.show(Number(op.dataset.op));
  });
  svg.addEventListener('pointerout', event => {
    if (event.target.closest('.op')) for (const v of all) v.show(selected);
  });
  svg.addEventListener('wheel', event => {
    event.preventDefault();
    camera.zoom(svg, Math.exp(event.deltaY * (event.deltaMode ? .05 : .0015)), event.clientX, event.clientY);
  }, { passive: false });
  svg.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith('Arrow')) walk(event.key);
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
    if (event.target.dataset.op) select(Number(event.target.dataset.op));
  });
  view.root.querySelector('.steps').addEventListener('click', event => {
    const row = event.target.closest('tr[data-step]'), step = row && views[all.indexOf(view)].steps[row.dataset.step];
    if (step && step.operators.length) select(step.operators[0]);
  });
  view.root.querySelector('.subgraphs').addEventListener('click', event => {
    const row = event.target.closest('tr[data-subgraph]');
    if (row) view.single(row.classList.contains('chosen') ? null : Number(row.dataset.subgraph));
  });
}

const field = document.getElementById('search'), counter = document.getElementById('found');

function find() {
  const words = field.value.trim().toLowerCase().split(/\s+/).filter(word => word);
  found = !words.length ? null : [...operators.keys()].filter(v => {
    const o = operators[v], text = `${v} ${o.kind} ${o.name} ${o.extents} ${o.details}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
  counter.value = found === null ? '' : found.length === 1 ? '1 operator' : `${found.length} operators`;
  for (const view of all) view.search(found);
}

field.addEventListener('input', find);
field.form.addEventListener('submit', event => {
  event.preventDefault();
  if (found && found.length) select(found.find(v => selected === null || v > selected) ?? found[0]);
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

function follow() {
  const op = /^#op=(\d+)$/.exec(location.hash);
  if (op && Number(op[1]) < operators.length) select(Number(op[1]));
}
addEventListener('hashchange', follow);
follow();
