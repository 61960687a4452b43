// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data of the page, as text and as items to draw: steps, folded runs of equal blocks, inputs and outputs.
'use strict';

const number = (x, digits = 0) => x.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const digits = x => x >= 100 ? 0 : x >= 10 ? 1 : 2;

/** "574 µs", "1.15 ms" */
function timeText(us) {
  const [x, unit] = us >= 1000 ? [us / 1000, 'ms'] : [us, '\u00b5s'];
  return `${number(x, digits(x))}\u00a0${unit}`;
}

/** "301 KB", "1.2 MB", of a thousand bytes each. */
function bytesText(bytes) {
  if (bytes < 1000) return `${number(bytes)}\u00a0B`;
  const [x, unit] = bytes < 999500 ? [bytes / 1e3, 'KB'] : [bytes / 1e6, 'MB'];
  return `${number(x, x < 10 ? 1 : 0)}\u00a0${unit}`;
}

const measures = {
  time: { of: step => step.time, text: timeText, name: 'predicted time' },
  bytes: { of: step => step.beyondL2, text: bytesText, name: 'bytes moved beyond L2' },
};

const kernelsOf = step => step.parts.map(part => part.kernel).join(', ');

/** "rows, 4 at a time", "" for a single kernel. */
function tilingOf(step) {
  if (step.parts.length < 2) return '';
  return step.tile ? `${step.tiling}, ${step.tile} at a time` : step.tiling;
}

/** Equal for steps that do the same. */
const signatureOf = ({ tiling, tile, parts }) =>
  JSON.stringify([tiling, tile, parts.map(p => [p.kernel, p.reads, p.writes, p.epilogue])]);

/**
 * Runs of equal blocks of consecutive steps: the same kernels on the same extents, which read the same steps of their
 * own block. Those that save most come first at each place.
 */
function repetitions(steps, flows) {
  const numbers = new Map(), reads = steps.map(() => []);
  const same = steps.map(step => {
    const text = signatureOf(step);
    if (!numbers.has(text)) numbers.set(text, numbers.size);
    return numbers.get(text);
  });
  for (const [from, to] of flows) if (from >= 0 && to >= 0) reads[to].push(to - from);
  const inner = (step, begin) => reads[step].filter(back => back <= step - begin).sort((a, b) => a - b).join();
  const length = (begin, period) => {  // of the run in which each step equals the one a period later
    let k = 0;
    for (; begin + k + period < steps.length; ++k) {
      const at = begin + k, block = at - k % period;
      if (same[at] !== same[at + period] || inner(at, block) !== inner(at + period, block + period)) break;
    }
    return k;
  };
  const found = [];
  for (let at = 0; at < steps.length;) {
    let best = { saved: 1 };
    for (let period = 1; at + 2 * period <= steps.length; ++period) {
      if (same[at] !== same[at + period]) continue;
      const copies = Math.floor(length(at, period) / period) + 1, saved = (copies - 1) * period;
      if (saved > best.saved) best = { saved, first: at, period, copies };
    }
    if (best.saved > 1) found.push(best);
    at += best.saved > 1 ? best.period * best.copies : 1;
  }
  return found;
}

/**
 * What is drawn, in an order in which operands come first: {kind, steps, subgraph, reads}. `reads` has the items that
 * an item reads, each with the operators whose values they are.
 */
function itemsOf(view, folds) {
  const items = [], itemOf = new Map(), inputs = new Map();
  for (const [from, , value] of view.flows)
    if (from < 0 && !inputs.has(value)) {
      inputs.set(value, items.length);
      items.push({ kind: 'input', operator: value, steps: [], subgraph: -1, reads: new Map() });
    }
  for (let step = 0; step < view.steps.length;) {
    const fold = folds.find(f => f.first === step && !f.open), count = fold ? fold.period * fold.copies : 1;
    const steps = Array.from({ length: count }, (_, k) => step + k);
    const [{ subgraph }] = view.steps.slice(step), one = steps.every(s => view.steps[s].subgraph === subgraph);
    for (const s of steps) itemOf.set(s, items.length);
    items.push({ kind: fold ? 'fold' : 'step', fold, steps, subgraph: one ? subgraph : -1, reads: new Map() });
    step += count;
  }
  const read = (to, from, value) => {
    if (from === to) return;
    const values = items[to].reads.get(from) ?? new Set();
    items[to].reads.set(from, values.add(value));
  };
  const outputs = new Map();
  for (const [from, to, value] of view.flows) {
    if (to < 0 && !outputs.has(value)) {
      outputs.set(value, items.length);
      items.push({ kind: 'output', operator: value, steps: [], subgraph: -1, reads: new Map() });
    }
    read(to < 0 ? outputs.get(value) : itemOf.get(to), from < 0 ? inputs.get(value) : itemOf.get(from), value);
  }
  if (outputs.size > 1) [...outputs.values()].forEach((i, k) => items[i].label = `output ${k}`);
  return items;
}
