// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For test_inspect_page.py: what is wrong with the layout of the page that is shown, as sentences.
(() => {
  const wrong = [], view = document.querySelector('.view:not(.hidden)'), graph = view.querySelector('.graph');
  const rect = e => e.getBoundingClientRect(), shown = e => rect(e).width > 0 && rect(e).height > 0;
  const name = e => `${e.tagName}.${e.getAttribute('class') ?? ''} "${e.textContent.slice(0, 30)}"`;
  const inside = (a, b, by = 1.01) =>
    a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;
  const overlap = (a, b, by = 1) =>
    a.left < b.right - by && b.left < a.right - by && a.top < b.bottom - by && b.top < a.bottom - by;
  const fail = (what, ...elements) => wrong.push(`${what}: ${elements.map(name).join(', ')}`);

  for (const e of document.body.querySelectorAll('*')) {
    if (['SCRIPT', 'NOSCRIPT', 'STYLE', 'TITLE'].includes(e.tagName.toUpperCase()) || !shown(e) || e.closest('defs')) continue;
    const parent = e instanceof SVGElement ? e.ownerSVGElement ?? e.parentElement : e.parentElement;
    if (getComputedStyle(e).position !== 'fixed' && !inside(rect(e), rect(parent))) fail('outside of its parent', e, parent);
    const block = !(e instanceof SVGElement) && e.tagName !== 'INPUT' && e.clientWidth > 0;  // inline elements have no width
    if (block && e.scrollWidth > e.clientWidth + 1) fail('its text is wider', e);
    const text = [...e.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (text && parseFloat(getComputedStyle(e).fontSize) < 11) fail('less than 11 px', e);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is wider than the window');

  const boxes = [...graph.querySelectorAll('.box')], frames = [...graph.querySelectorAll('.frame')];
  const places = boxes.map(rect), grounds = frames.map(rect);
  for (const [all, rects] of [[boxes, places], [frames, grounds]])
    all.forEach((a, k) => all.slice(0, k).forEach((b, j) => overlap(rects[k], rects[j]) && fail('overlap', a, b)));
  const { steps } = views[[...document.querySelectorAll('.view')].indexOf(view)];
  boxes.forEach((box, k) => {
    const subgraph = box.matches('.step') ? steps[box.dataset.step].subgraph : null;
    const own = j => Number(frames[j].dataset.subgraph) === subgraph;
    frames.forEach((frame, j) => {
      if (overlap(places[k], grounds[j]) && !own(j) && !box.matches('.fold')) fail('in a frame of others', box, frame);
    });
    if (subgraph !== null && !grounds.some((ground, j) => own(j) && inside(places[k], ground))) fail('in no frame', box);
  });

  // Edges consist of vertical and horizontal lines, whose corners are cut; the points of a path include the corners.
  const origin = rect(graph);
  for (const edge of graph.querySelectorAll('path.edge')) {
    const numbers = edge.getAttribute('d').match(/[\d.-]+/g).map(Number), points = [];
    for (let k = 0; k < numbers.length; k += 2) points.push({ x: numbers[k] + origin.left, y: numbers[k + 1] + origin.top });
    const [begin] = points, end = points.at(-1), above = (p, { x }) => p.left < x && x < p.right;
    if (!places.some(p => above(p, begin) && Math.abs(p.bottom - begin.y) < 10)) fail('an edge begins at no box', edge);
    if (!places.some(p => above(p, end) && Math.abs(p.top - end.y) < 1.1)) fail('an edge ends at no box', edge);
    for (let k = 1; k < points.length; ++k) {
      const xs = [points[k - 1].x, points[k].x].sort((a, b) => a - b), ys = [points[k - 1].y, points[k].y].sort((a, b) => a - b);
      const line = { left: xs[0], right: xs[1], top: ys[0], bottom: ys[1] };
      if (xs[1] - xs[0] > .2 && ys[1] - ys[0] > .2) fail('an edge is not straight', edge);
      if (places.some(p => overlap(line, { left: p.left, right: p.right, top: p.top + 2, bottom: p.bottom - 2 }, -.1)))
        fail('an edge crosses a box', edge);
    }
  }
  return wrong.slice(0, 8);
})()
