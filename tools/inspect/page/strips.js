// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under the graph, on one axis of steps: predicted time, and what occupies the arena.
'use strict';

class Strips {
  constructor(root, view) {
    this.root = root;
    this.view = view;
  }

  draw() {
    const { view, root } = this, count = view.steps.length, width = root.clientWidth;
    const left = 66, right = 8, time = { top: 22, height: 84 }, arena = { top: 154, height: view.arena ? 150 : 0 };
    const each = (width - left - right) / count, height = arena.top + arena.height + 20, x = step => left + step * each;
    const label = 'predicted time of each step, and use of the arena over the steps';
    const svg = shape('svg', { width, height, role: 'img', 'aria-label': label });
    const text = (kind, at, y, ...what) => svg.append(shape('text', { class: kind, x: at, y }, ...what));
    const line = (x1, y1, x2, y2) => svg.append(shape('line', { x1, y1, x2, y2 }));
    const rect = (kind, at, y, wide, high, title) => {
      const made = shape('rect', { class: kind, x: at, y, width: wide, height: Math.max(0, high) });
      if (title) made.append(shape('title', {}, title));
      svg.append(made);
      return made;
    };
    const most = Math.max(...view.steps.map(step => step.time));
    text('title', 0, 12, 'Predicted time of each step');
    const heading = `Arena, ${bytesText(view.arena)}: the values in it while the steps run`;
    text('title', 0, arena.top - 10, view.arena ? heading : 'No arena is needed');
    view.steps.forEach((step, k) => {  // subgraphs alternate
      if (step.subgraph % 2 === 0) return;
      rect('band', x(k), time.top, each, time.height);
      rect('band', x(k), arena.top, each, arena.height);
    });
    for (const part of [1, .5]) {
      const y = time.top + time.height * (1 - part);
      text('tick', left - 6, y + 4, timeText(most * part));
      line(left, y, width - right, y);
    }
    this.columns = view.steps.map((step, k) => rect('column', x(k), time.top, each, arena.top + arena.height - time.top));
    this.bars = view.steps.map((step, k) => {
      const high = Math.max(1, time.height * step.time / most);
      return rect('bar', x(k) + .08 * each, time.top + time.height - high, .84 * each, high);
    });
    line(left, time.top + time.height, width - right, time.top + time.height);
    this.values = view.values.map(value => this.drawValue(rect, text, value, x, arena));
    for (const part of view.arena ? [0, .5, 1] : [])
      text('tick', left - 6, arena.top + arena.height * (1 - part) + 4, part ? bytesText(view.arena * part) : '0');
    if (view.arena) line(left, arena.top + arena.height, width - right, arena.top + arena.height);
    const apart = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find(n => n * each >= 26);
    for (let k = 0; k < count; k += apart) {
      text('step', x(k + .5), time.top + time.height + 13, String(k));
      if (view.arena) text('step', x(k + .5), arena.top + arena.height + 14, String(k));
    }
    root.replaceChildren(svg);
    this.stepAt = clientX => {
      const step = Math.floor((clientX - svg.getBoundingClientRect().x - left) / each);
      return step >= 0 && step < count ? step : null;
    };
  }

  /** A value: as wide as it lives, as high as it is large. */
  drawValue(rect, text, value, x, arena) {
    const { operator, first, last, offset, bytes, scratch } = value, o = this.view.operators[operator];
    const scale = arena.height / this.view.arena, y = arena.top + arena.height - (offset + bytes) * scale;
    const wide = x(last + 1) - x(first), high = bytes * scale, size = sizeOf(o.extents), name = scratch ? 'scratch' : size;
    const when = first === last ? `in step ${first}` : `from step ${first} to ${last}`;
    const [kind, what] = scratch ? ['value scratch', 'scratch of the kernel of'] : ['value', 'value of'];
    const drawn = rect(kind, x(first) + .5, y + .5, Math.max(.5, wide - 1), Math.max(.5, high - 1),
      `${what} operator ${operator}, ${o.label} ${size}: ${bytesText(bytes)} at ${number(offset)}, ${when}`);
    if (high >= 15 && 6.6 * name.length + 8 < wide) text('inside', x(first) + 5, y + high / 2 + 4, name);
    return drawn;
  }

  colour(measure) {
    const { of } = measures[measure], most = Math.max(...this.view.steps.map(of));
    this.view.steps.forEach((step, k) => this.bars[k].style.setProperty('--heat', most > 0 ? of(step) / most : 0));
  }

  select(step) {
    this.columns.forEach((column, k) => column.classList.toggle('selected', k === step));
    this.values.forEach((drawn, k) => {
      const { first, last } = this.view.values[k];
      drawn.classList.toggle('live', step !== null && first <= step && step <= last);
    });
  }
}
