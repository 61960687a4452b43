// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Routes edges between rows and lanes, never behind a box. Values of different items have different tracks.
'use strict';

/** Parallel tracks between rows or lanes: each owner gets the lowest track that is free on its intervals. */
class Channel {
  constructor() {
    this.wanted = new Map();
  }

  want(owner, a, b) {
    const [low, high] = [Math.min(a, b), Math.max(a, b)], own = this.wanted.get(owner);
    this.wanted.set(owner, own ? [Math.min(own[0], low), Math.max(own[1], high)] : [low, high]);
  }

  assign() {
    const ends = [];
    this.track = new Map();
    for (const [owner, [low, high]] of [...this.wanted].sort((a, b) => a[1][0] - b[1][0] || a[1][1] - b[1][1])) {
      let k = ends.findIndex(end => end < low);
      if (k < 0) k = ends.length;
      ends[k] = high;
      this.track.set(owner, k);
    }
    this.count = ends.length;
  }
}

class Channels extends Map {
  at(key) {
    if (!this.has(key)) this.set(key, new Channel());
    return this.get(key);
  }
}

const port = .06;  // edges that bend leave right of the centre and arrive left of it, in lanes

/**
 * The turns of an edge, each in a channel: 'h' has a key of a horizontal channel, 'v' of a vertical one, or a lane's
 * position. They alternate; the first one is the vertical from the source.
 */
function turnsOf(from, to, occupied) {
  const leave = from.lane + port, arrive = to.lane - port;
  const free = lane => {
    for (let row = from.row + 1; row < to.row; ++row) if (occupied.has(`${row} ${lane}`)) return false;
    return true;
  };
  const out = `exit ${from.row}`, into = `entry ${to.row}`, gutter = (band, j) => `v ${band} ${j}`;
  if (from.column === to.column) {
    if (from.lane === to.lane && free(from.lane)) return { straight: true };
    if (free(to.lane)) return { leave, arrive, turns: [out] };
    if (free(from.lane)) return { leave, arrive, turns: [into] };
    const j = from.lane < to.lane ? to.lane : from.lane + 1;
    return { leave, arrive, turns: [out, gutter(from.band, j), into] };
  }
  const right = gutter(from.band, from.column.lane + from.column.lanes), left = gutter(to.band, to.column.lane);
  if (right === left) return { leave, arrive, turns: [out, right, into] };
  if (from.band === to.band) return { leave, arrive, turns: [out, right, `bus ${to.band}`, left, into] };
  const down = from.band + 1 === to.band ? [] : [`bus ${from.band + 1}`, 'margin'];
  return { leave, arrive, turns: [out, right, ...down, `bus ${to.band}`, left, into] };
}

/**
 * Who owns the tracks of each turn: the source, so that a value forks on its way; near an item that reads many values
 * that item, so that they join.
 */
function ownersOf({ owner, reader, to, route: { turns } }) {
  const joins = to.reads.size > 2, near = { 1: 0, 3: 1 }[turns.length] ?? 2;
  return turns.map((_, k) => joins && k >= near ? `to ${reader}` : `from ${owner}`);
}

/** The position of a vertical channel in lanes. */
const ordinal = key => key === 'margin' ? -.9 : Number(key.split(' ')[2]) - .5;

/** Horizontal channels, for their numbers of tracks. */
function horizontalChannels(edges) {
  const channels = new Channels();
  for (const edge of edges) {
    const { straight, leave, arrive, turns } = edge.route;
    if (straight) continue;
    edge.owners = ownersOf(edge);
    const stops = [leave, ...turns.filter((_, k) => k % 2).map(ordinal), arrive];
    turns.forEach((key, k) => k % 2 || channels.at(key).want(edge.owners[k], stops[k / 2], stops[k / 2 + 1]));
  }
  for (const channel of channels.values()) channel.assign();
  return channels;
}

/**
 * The points of each edge. yOf(key, track): of a horizontal channel; xOf(lane): of a position in a lane; gutters are
 * `wide`, and the one left of lane j begins at gutterX(j).
 */
function route(edges, horizontal, yOf, xOf, gutterX, wide) {
  const vertical = new Channels();
  for (const edge of edges) {
    const { owners, route: { straight, turns } } = edge;
    if (straight) continue;
    edge.y = turns.map((key, k) => k % 2 ? 0 : yOf(key, horizontal.get(key).track.get(owners[k])));
    turns.forEach((key, k) => k % 2 && vertical.at(key).want(owners[k], edge.y[k - 1], edge.y[k + 1]));
  }
  for (const channel of vertical.values()) channel.assign();
  const xIn = (key, owner) => {
    const { track, count } = vertical.get(key), margin = key === 'margin';
    const begin = margin ? 0 : gutterX(Number(key.split(' ')[2])), room = margin ? gutterX(0) : wide, apart = Math.min(6, (room - 6) / count);
    return begin + room / 2 + (track.get(owner) - (count - 1) / 2) * apart;
  };
  for (const edge of edges) {
    const { owners, route: { straight, leave, arrive, turns } } = edge;
    if (straight) {
      edge.points = [[xOf(edge.from.lane), edge.from.bottom], [xOf(edge.to.lane), edge.to.top]];
      continue;
    }
    const xs = [xOf(leave), ...turns.flatMap((key, k) => k % 2 ? [xIn(key, owners[k])] : []), xOf(arrive)];
    const ys = edge.y.filter((_, k) => k % 2 === 0);
    edge.points = [[xs[0], edge.from.bottom], ...ys.flatMap((y, k) => [[xs[k], y], [xs[k + 1], y]]), [xs.at(-1), edge.to.top]];
  }
}

/** An SVG path with round corners. */
function pathOf(points) {
  const toward = (a, b, most) => {
    const far = Math.hypot(b[0] - a[0], b[1] - a[1]), part = far ? Math.min(most, far / 2) / far : 0;
    return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part];
  };
  const text = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  let path = `M${text(points[0])}`;
  for (let k = 1; k + 1 < points.length; ++k)
    path += `L${text(toward(points[k], points[k - 1], 6))}Q${text(points[k])} ${text(toward(points[k], points[k + 1], 6))}`;
  return `${path}L${text(points.at(-1))}`;
}
