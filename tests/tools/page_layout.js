// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For test_inspect_page.py: what is wrong with the layout of the page that is shown, as sentences.
(() => {
  const wrong = [], view = document.querySelector('.view:not(.hidden)'), graph = view.querySelector('.graph');
  const rect = e => e.getBoundingClientRect(), shown = e => rect(e).width > 0 && rect(e).height > 0;
  const name = e => `${e.tagName}.${e.getAttribute('class') ?? ''} "${e.textContent.slice(0, 30)}"`;
  const inside = (a, b, by = 1.01) => a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;
  const overlap = (a, b, by = 1) => a.left < b.right - by && b.left < a.right - by && a.top < b.bottom - by && b.top < a.bottom - by;
  const fail = (what, ...elements) => wrong.push(`${what}: ${elements.map(name).join(', ')}`);

  for (const e of document.body.querySelectorAll('*')) {
    if (['SCRIPT', 'NOSCRIPT', 'STYLE', 'TITLE'].includes(e.tagName.toUpperCase()) || !shown(e) || e.closest('defs')) continue;
    const parent = e instanceof SVGElement ? e.ownerSVGElement ?? e.parentElement : e.parentElement;
    if (getComputedStyle(e).position !== 'fixed' && !inside(rect(e), rect(parent))) fail('outside of its parent', e, parent);
    if (!(e instanceof SVGElement) && e.scrollWidth > e.clientWidth + 1 && e.clientWidth && e.tagName !== 'INPUT' && getComputedStyle(e).display !== 'inline')
      fail('its text is wider', e);
    const text = [...e.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (text && parseFloat(getComputedStyle(e).fontSize) < 11) fail('less than 11 px', e);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is wider than the window');

  const boxes = [...graph.querySelectorAll('.box')], frames = [...graph.querySelectorAll('.frame')];
  const places = boxes.map(rect), grounds = frames.map(rect);
  boxes.forEach((box, k) => boxes.slice(0, k).forEach((other, j) => overlap(places[k], places[j]) && fail('boxes overlap', box, other)));
  frames.forEach((frame, k) => frames.slice(0, k).forEach((other, j) => overlap(grounds[k], grounds[j]) && fail('frames overlap', frame, other)));
  const { steps } = views[[...document.querySelectorAll('.view')].indexOf(view)];
  boxes.forEach((box, k) => {
    const subgraph = box.matches('.step') ? steps[box.dataset.step].subgraph : null;
    frames.forEach((frame, j) => {
      if (overlap(places[k], grounds[j]) && Number(frame.dataset.subgraph) !== subgraph && !box.matches('.fold')) fail('in a frame of others', box, frame);
    });
    if (subgraph !== null && !grounds.some((ground, j) => Number(frames[j].dataset.subgraph) === subgraph && inside(places[k], ground)))
      fail('in no frame', box);
  });

  // Edges consist of vertical and horizontal lines, whose corners are cut; the points of a path include the corners.
  const origin = rect(graph);
  for (const edge of graph.querySelectorAll('path.edge')) {
    const numbers = edge.getAttribute('d').match(/[\d.-]+/g).map(Number), points = [];
    for (let k = 0; k < numbers.length; k += 2) points.push({ x: numbers[k] + origin.left, y: numbers[k + 1] + origin.top });
    const [begin] = points, end = points.at(-1), above = (p, { x }) => p.left < x && x < p.right;
    if (!places.some(p => above(p, begin) && Math.abs(p.bottom - begin.y) < 10)) fail('an edge begins at no box', edge);
    if (!places.some(p => above(p, end) && Math.abs(p.top - end.y) < 1.1)) fail('an edge ends at no box', edge);
    const crosses = points.slice(1).some((b, k) => {
      const a = points[k], line = { left: Math.min(a.x, b.x), right: Math.max(a.x, b.x), top: Math.min(a.y, b.y), bottom: Math.max(a.y, b.y) };
      return places.some(p => overlap(line, { left: p.left, right: p.right, top: p.top + 2, bottom: p.bottom - 2 }, -.1));
    });
    if (crosses) fail('an edge crosses a box', edge);
    if (points.slice(1).some((b, k) => Math.abs(points[k].x - b.x) > .2 && Math.abs(points[k].y - b.y) > .2)) fail('an edge is not straight', edge);
  }
  return wrong.slice(0, 8);
})()
