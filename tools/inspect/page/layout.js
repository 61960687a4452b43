// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places items on a grid of rows and lanes, and the rows in columns that are as high as a screen.
'use strict';

/** The items of a block by rank: the longest path from those that read nothing in the block. */
function ranksOf(block, items) {
  const depth = new Map(), ranks = [];
  for (const i of block.items) {
    const above = [...items[i].reads.keys()].filter(from => depth.has(from)).map(from => depth.get(from) + 1);
    depth.set(i, Math.max(0, ...above));
    (ranks[depth.get(i)] ??= []).push(i);
  }
  return ranks;
}

/** A block in parts, so that a long chain in it is not as wide as its branches. Each part ends before the next begins. */
function partsOf(block, items) {
  const ranks = ranksOf(block, items), long = 3;
  if (ranks.every(rank => rank.length === 1)) return [block];
  const cuts = new Set();
  for (let begin = 0, end; begin < ranks.length; begin = end + 1) {
    end = begin;
    while (end < ranks.length && ranks[end].length === 1) ++end;
    if (end - begin >= long) cuts.add(begin).add(end);
  }
  const parts = [{ ...block, items: [] }];
  ranks.forEach((rank, k) => {
    const apart = cuts.has(k) && Math.max(...ranks.slice(0, k).flat()) < Math.min(...ranks.slice(k).flat());
    if (apart && parts.at(-1).items.length) parts.push({ ...block, items: [], continued: true });
    parts.at(-1).items.push(...rank);
  });
  for (const part of parts) part.items.sort((a, b) => a - b);
  return parts;
}

/** Runs of items of one subgraph, which share a frame; others are alone. */
function blocksOf(items) {
  const blocks = [];
  items.forEach((item, i) => {
    const last = blocks.at(-1);
    if (item.kind === 'input') return;
    if (last && item.subgraph >= 0 && last.subgraph === item.subgraph) last.items.push(i);
    else blocks.push({ subgraph: item.subgraph, items: [i] });
  });
  return blocks.flatMap(block => partsOf(block, items));
}

/** Gives each item of a block a row and a lane within the block. Items are below those that they read. */
function arrangeBlock(block, items, room) {
  block.place = new Map();
  block.rows = block.lanes = 0;
  for (const rank of ranksOf(block, items))
    for (let k = 0; k < rank.length; k += room, ++block.rows) {
      const taken = new Set();
      for (const i of rank.slice(k, k + room)) {
        const above = [...items[i].reads.keys()].filter(from => block.place.has(from)).map(from => block.place.get(from).lane);
        let lane = above.length ? Math.min(...above) : 0;
        for (let step = 1; taken.has(lane) || lane < 0 || lane >= room; ++step) lane += step % 2 ? step : -step;
        taken.add(lane);
        block.place.set(i, { row: block.rows, lane });
        block.lanes = Math.max(block.lanes, lane + 1);
      }
    }
}

/** Sets row and lane of every item, and of blocks: rectangles that do not overlap. At most `room` lanes. */
function arrange(items, room) {
  const blocks = blocksOf(items), taken = new Set(), key = (row, lane) => row * 4096 + lane;
  const cells = (row, lane, rows, lanes) =>
    Array.from({ length: rows * lanes }, (_, k) => key(row + Math.floor(k / lanes), lane + k % lanes));
  const readers = items.map(() => 0), live = new Set();
  for (const item of items) for (const from of item.reads.keys()) ++readers[from];
  const inside = (block, i) => block.items.filter(reader => items[reader].reads.has(i)).length;
  for (const block of blocks) {
    arrangeBlock(block, items, room);
    const placed = i => [...items[i].reads.keys()].filter(from => items[from].row !== undefined).map(from => items[from]);
    const above = block.items.flatMap(placed);
    for (const item of above) --item.unread;  // a branch stays in its lane while others are open
    const open = [...live].some(item => item.unread > 0 && !above.includes(item));
    const wish = open && above.length ? Math.min(...above.map(item => item.lane)) : 0;
    const lowest = Math.max(1, ...block.items.flatMap(i => placed(i).map(item => item.row + 1 - block.place.get(i).row)));
    const far = lane => Math.abs(lane - wish);
    const lanes = Array.from({ length: room - block.lanes + 1 }, (_, k) => k).sort((a, b) => far(a) - far(b) || a - b);
    for (block.row = lowest; ; ++block.row) {
      block.lane = lanes.find(lane => cells(block.row, lane, block.rows, block.lanes).every(cell => !taken.has(cell)));
      if (block.lane !== undefined) break;
    }
    for (const cell of cells(block.row, block.lane, block.rows, block.lanes)) taken.add(cell);
    for (const [i, { row, lane }] of block.place) {
      Object.assign(items[i], { row: block.row + row, lane: block.lane + lane, block, unread: readers[i] - inside(block, i) });
      live.add(items[i]);
    }
    for (const item of live) if (item.unread <= 0) live.delete(item);
  }
  items.forEach((item, i) => {  // inputs are just above their first readers
    if (item.kind !== 'input') return;
    const readers = items.filter(other => other.reads.has(i));
    item.row = Math.min(...readers.map(reader => reader.row)) - 1;
    const wish = readers.find(reader => reader.row === item.row + 1).lane;
    const free = () => Array.from({ length: room }, (_, k) => (wish + k) % room).find(lane => !taken.has(key(item.row, lane)));
    while (free() === undefined && item.row > -items.length) --item.row;
    item.lane = free();
    taken.add(key(item.row, item.lane));
  });
  const rowsOf = ({ row, block }) => block ? Array.from({ length: block.rows }, (_, k) => block.row + k) : [row];
  const used = [...new Set(items.flatMap(rowsOf))].sort((a, b) => a - b);
  const compact = new Map(used.map((row, k) => [row, k]));
  for (const item of items) item.row = compact.get(item.row);
  for (const block of blocks) block.row = compact.get(block.row);
  return { blocks, rows: used.length };
}

/**
 * Cuts rows into columns of at most `height`. Prefers cuts that divide no block, if they leave `full` of a column. Each
 * row has a height and lanes.
 */
function columnsOf(rows, height, full) {
  const columns = [];
  for (let begin = 0; begin < rows.length;) {
    let end = begin, sum = 0;
    while (end < rows.length && (end === begin || sum + rows[end].height <= height)) sum += rows[end++].height;
    if (end < rows.length)
      for (let cut = end, rest = sum; cut > begin + 1 && rest > full * sum; rest -= rows[--cut].height)
        if (!rows[cut].divides) {
          end = cut;
          break;
        }
    const part = rows.slice(begin, end);
    const left = Math.min(...part.map(row => row.left)), right = Math.max(...part.map(row => row.right));
    columns.push({ begin, end, left, lanes: right - left });
    begin = end;
  }
  return columns;
}

/** Puts columns side by side, in bands of `room` lanes. */
function packed(columns, room) {
  const bands = [];
  let free = 0;
  for (const column of columns) {
    if (column.lanes > free) {
      bands.push([]);
      free = room;
    }
    column.lane = room - free;
    free -= column.lanes;
    bands.at(-1).push(column);
  }
  return bands;
}

/** Rows in as few bands as columns of `highest` need, which are then as low as possible, and divide few blocks. */
function bandsOf(rows, room, highest) {
  const ways = [.55, .75, .9, 1].map(full => {
    const bands = height => packed(columnsOf(rows, height, full), room), { length } = bands(highest);
    let low = 0, high = highest;
    while (high - low > 4) {
      const middle = (low + high) / 2;
      if (bands(middle).length > length) low = middle;
      else high = middle;
    }
    const found = bands(high), divided = found.flat().filter(column => rows[column.begin].divides).length;
    return { found, cost: length * high * (1 + .05 * divided) };
  });
  return ways.reduce((best, way) => way.cost < best.cost ? way : best).found;
}
