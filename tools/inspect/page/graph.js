// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws the items of a view: boxes, frames of subgraphs, and edges with the sizes of values.
'use strict';

/** An element with properties and children, which may be strings. */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** An SVG element with attributes. */
function shape(name, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const span = (className, ...children) => element('span', { className }, ...children);

/** "3x3, stride 2; bias, relu6": the parameters of a kernel's first complex operator, and its epilogue. */
function smallPrint(view, part) {
  const main = part.operators.map(v => view.operators[v]).find(o => o.complex) ?? view.operators[part.operators[0]];
  return [main?.details, part.epilogue].filter(text => text).join('; ');
}

const sizeOf = text => text.replaceAll('x', '\u00d7');

function stepBox(view, step) {
  const s = view.steps[step], head = element('div', { className: 'head' }, span('name', String(step)));
  head.append(span('figure'));
  if (s.parts.length > 1) head.append(span('how', `pipeline over ${tilingOf(s)}`));
  const box = element('div', { className: s.parts.length > 1 ? 'box step pipeline' : 'box step' }, head);
  for (const part of s.parts) {
    const line = element('div', { className: 'part' }, span('kernel', part.kernel), span('size', sizeOf(part.writes)));
    const small = smallPrint(view, part);
    box.append(line);
    if (small) box.append(element('div', { className: 'small' }, small));
  }
  return box;
}

/** One box for several copies of a block of steps. */
function foldBox(view, fold) {
  const { first, period, copies } = fold, box = element('div', { className: 'box fold' }), most = 10;
  box.append(element('div', { className: 'head' }, span('name', `\u00d7\u2009${copies}`), span('figure'),
    span('how', `${period === 1 ? 'one step' : `${period} steps each`}: ${first} to ${first + period * copies - 1}`)));
  const shown = period > most + 1 ? most : period;
  for (let k = 0; k < shown; ++k) {
    const s = view.steps[first + k], size = sizeOf(s.parts.at(-1).writes);
    box.append(element('div', { className: 'part' }, span('kernel', kernelsOf(s)), span('size', size)));
  }
  if (shown < period) box.append(element('div', { className: 'small' }, `and ${period - shown} more`));
  box.append(element('button', { type: 'button', className: 'unfold', tabIndex: -1 }, 'unfold'));
  return box;
}

/** An input or an output of the network. */
function valueBox(view, item) {
  const o = view.operators[item.operator], label = item.label ?? (item.kind === 'input' && o.name ? o.name : item.kind);
  return element('div', { className: `box ${item.kind}` },
    element('div', { className: 'part' }, span('kernel', label), span('size', sizeOf(o.extents))));
}

const labelOf = (view, item) => item.kind === 'fold'
  ? `${item.fold.copies} times ${item.fold.period} steps, from step ${item.fold.first}`
  : item.kind === 'step' ? `step ${item.steps[0]}, ${kernelsOf(view.steps[item.steps[0]])}` : item.kind;

const sizes = {
  gutter: 34, left: 22, least: 186, most: 264,      // widths between boxes, left of all, and of boxes
  caption: 19, pad: 7, label: 20, track: 6, arrow: 11, highest: 1300,  // heights
};

const boxOf = (view, item) => item.kind === 'fold' ? foldBox(view, item.fold)
  : item.kind === 'step' ? stepBox(view, item.steps[0]) : valueBox(view, item);

/** The graph of a view, drawn into `root`. */
class Graph {
  constructor(root, view) {
    this.root = root;
    this.view = view;
  }

  /** Draws everything for the width of the root. */
  draw(folds) {
    const { view, root } = this, { gutter, left, least, most } = sizes;
    const width = root.clientWidth, room = Math.max(1, Math.floor((width - left - gutter) / (least + gutter)));
    this.box = Math.min(most, Math.floor((width - left - gutter) / room - gutter));
    this.items = itemsOf(view, folds);
    const { blocks, rows } = arrange(this.items, room);
    for (const item of this.items) {
      item.element = boxOf(view, item);
      item.element.style.width = `${this.box}px`;
      if (item.steps.length) {
        Object.assign(item.element.dataset, { step: item.steps[0], steps: item.steps.length });
        const attributes = { role: 'button', tabindex: -1, 'aria-label': labelOf(view, item) };
        for (const [key, value] of Object.entries(attributes)) item.element.setAttribute(key, value);
      }
    }
    root.replaceChildren(...this.items.map(item => item.element));
    for (const item of this.items) item.height = item.element.offsetHeight + (item.fold ? 8 : 0);  // a fold is drawn as a stack
    this.place(blocks, rows, room);
    this.connect();
  }

  /** Positions of bands, columns, rows, boxes and frames. */
  place(blocks, count, room) {
    const { gutter, caption, pad, label, arrow, track, highest } = sizes;
    const empty = { box: 0, height: 0, begins: false, divides: false, left: room, right: 0 };
    const rows = Array.from({ length: count }, () => ({ ...empty }));
    const widen = (row, lane, lanes) => {
      row.left = Math.min(row.left, lane);
      row.right = Math.max(row.right, lane + lanes);
    };
    for (const item of this.items) {
      rows[item.row].box = Math.max(rows[item.row].box, item.height);
      widen(rows[item.row], item.lane, 1);
    }
    for (const { subgraph, row, rows: deep, lane, lanes } of blocks) {
      if (subgraph < 0) continue;
      rows[row].begins = true;
      for (let k = 0; k < deep; ++k) {
        widen(rows[row + k], lane, lanes);
        if (k) rows[row + k].divides = true;
      }
    }
    for (const row of rows) row.height = row.box + label + 3 * track + arrow + (row.begins ? caption : 0);
    this.bands = bandsOf(rows, room, highest);
    this.bands.forEach((band, b) => band.forEach(column => {
      for (let r = column.begin; r < column.end; ++r) Object.assign(rows[r], { band: b, column });
      rows[column.begin].begins ||= rows[column.begin].divides;
    }));
    const occupied = new Set();
    for (const item of this.items) {
      const { band, column } = rows[item.row];
      Object.assign(item, { band, column, lane: item.lane - column.left + column.lane });
      occupied.add(`${item.row} ${item.lane}`);
    }
    this.edges = this.items.flatMap((to, i) => [...to.reads].map(([f, values]) => {
      const from = this.items[f];
      return { owner: f, from, to, values, reader: i, route: turnsOf(from, to, occupied) };
    }));
    const channels = horizontalChannels(this.edges), tracks = key => channels.get(key)?.count ?? 0;
    let y = 0;
    const busY = [];
    this.bands.forEach((band, b) => {
      busY.push(y + pad);
      const top = y + pad + tracks(`bus ${b}`) * track;
      for (const column of band) {
        let at = top;
        for (let r = column.begin; r < column.end; ++r) {
          rows[r].entry = at + track;
          rows[r].top = at + tracks(`entry ${r}`) * track + arrow + (rows[r].begins ? caption : 0);
          rows[r].bottom = rows[r].top + rows[r].box;
          at = rows[r].bottom + label + tracks(`exit ${r}`) * track;
        }
        y = Math.max(y, at);
      }
      y += pad;
    });
    this.x = lane => sizes.left + gutter + lane * (this.box + gutter);
    for (const item of this.items) {
      item.top = rows[item.row].top;
      item.bottom = item.top + item.height;
      Object.assign(item.element.style, { left: `${this.x(item.lane)}px`, top: `${item.top}px` });
    }
    const lanes = Math.max(...this.bands.map(band => band.at(-1).lane + band.at(-1).lanes));
    Object.assign(this, { height: y, width: this.x(lanes) });
    this.root.style.height = `${y}px`;
    this.frame(blocks, rows);
    const yOf = (key, k) => {
      const [kind, at] = key.split(' ');
      return k * track + { bus: () => busY[at], entry: () => rows[at].entry, exit: () => rows[at].bottom + label }[kind]();
    };
    const xOf = lane => this.x(Math.round(lane)) + this.box * (.5 + lane - Math.round(lane));
    route(this.edges, channels, yOf, xOf, j => sizes.left + j * (this.box + gutter), gutter);
  }

  /** The frames of subgraphs; those that a column ends are continued in the next one. */
  frame(blocks, rows) {
    const { caption, pad } = sizes, frames = [], { subgraphs } = this.view;
    for (const { subgraph, row, rows: deep, lane, lanes, continued } of blocks) {
      if (subgraph < 0) continue;
      for (let r = row; r < row + deep;) {
        const { column } = rows[r], end = Math.min(column.end, row + deep), top = rows[r].top - caption;
        const x = this.x(lane - column.left + column.lane) - pad, { weight, operators } = subgraphs[subgraph];
        const title = `subgraph ${subgraph}: ${operators} operators, weight ${number(weight, 1)}`;
        const frame = element('div', { className: 'frame', title },
          span('caption', `${continued || r > row ? '\u2026 ' : ''}subgraph ${subgraph}`));
        frame.dataset.subgraph = subgraph;
        const width = lanes * (this.box + sizes.gutter) - sizes.gutter + 2 * pad, height = rows[end - 1].bottom - top + pad;
        Object.assign(frame.style, { left: `${x}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
        frames.push(frame);
        r = end;
      }
    }
    this.root.prepend(...frames);
  }

  /** Edges, and the size of each value next to the box that writes it. */
  connect() {
    const id = `arrow${this.view.number}`, labels = new Map();
    const tip = { id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: 'userSpaceOnUse', orient: 'auto' };
    const svg = shape('svg', { class: 'edges', width: this.root.clientWidth, height: this.height, 'aria-hidden': 'true' },
      shape('defs', {}, shape('marker', tip, shape('path', { class: 'head', d: 'M0 .8L7.5 4L0 7.2z' }))));
    for (const edge of this.edges) {
      const { values, points } = edge, names = [...values].map(v => this.view.operators[v]);
      edge.line = shape('path', { class: 'edge', d: pathOf(points), 'marker-end': `url(#${id})` });
      edge.line.append(shape('title', {}, names.map(o => `${o.label} ${o.extents}, ${bytesText(o.bytes)}`).join('; ')));
      svg.append(edge.line);
      labels.set(edge.from, Math.max(labels.get(edge.from) ?? 0, points[0][0]));
    }
    for (const [from, x] of labels) {
      const bytes = from.steps.length ? this.view.steps[from.steps.at(-1)].written : this.view.operators[from.operator].bytes;
      svg.append(shape('text', { class: 'bytes', x: x + 5, y: from.bottom + 14 }, bytesText(bytes)));
    }
    this.root.insertBefore(svg, this.root.querySelector('.box'));
  }

  /** Fills boxes by a measure, and prints it. */
  colour(measure) {
    const { of, text } = measures[measure], most = Math.max(...this.view.steps.map(of));
    for (const item of this.items) {
      if (!item.steps.length) continue;
      const each = item.steps.map(step => of(this.view.steps[step])), sum = each.reduce((a, b) => a + b, 0);
      item.element.style.setProperty('--heat', most > 0 ? Math.max(...each) / most : 0);
      item.element.querySelector('.figure').textContent = text(sum) + (item.fold ? ' in all' : '');
    }
  }

  itemOf(step) {
    return this.items.find(item => item.steps.includes(step));
  }

  /** Marks the box of a step, and the edges at it; null: none. */
  select(step) {
    const chosen = step === null ? null : this.itemOf(step);
    for (const item of this.items) {
      item.element.classList.toggle('selected', item === chosen);
      if (item.steps.length) item.element.tabIndex = item === chosen ? 0 : -1;
    }
    if (!chosen) this.items.find(item => item.steps.length).element.tabIndex = 0;
    for (const edge of this.edges) edge.line.classList.toggle('near', edge.from === chosen || edge.to === chosen);
  }
}
