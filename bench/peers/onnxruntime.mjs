// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX Runtime controlled through standard input and output, for bench/networks and imported. Each command and each
// answer is a line.
//
//   node onnxruntime.mjs PACKAGES                                prints the version of onnxruntime-node in
//                                                                PACKAGES/node_modules
//   node onnxruntime.mjs PACKAGES MODEL INPUT THREADS LAYOUT     then answers
//     run             runs one inference, "ok NANOSECONDS"
//     output FILE     writes the results of the last run, float32, "ok FLOATS"
//
// INPUT is a file of float32. Images are NCHW in the model, and have the LAYOUT nhwc or nchw in the files. Several
// inputs or outputs are concatenated.
import { readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [packages, model, inputFile, threads, layout] = process.argv.slice(2);
const require = createRequire(resolve(packages, 'any.js'));

/** `data` with all axes but the first in another `order`. */
function transposed(data, [n, ...rest], order) {
  const strides = [rest[1] * rest[2], rest[2], 1];
  const [a, b, c] = order.map((axis) => rest[axis]);
  const [sa, sb, sc] = order.map((axis) => strides[axis]);
  const result = new Float32Array(data.length);
  let to = 0;
  for (let image = 0; image < n; ++image)
    for (let i = 0; i < a; ++i)
      for (let j = 0; j < b; ++j)
        for (let k = 0; k < c; ++k) result[to++] = data[image * a * b * c + i * sa + j * sb + k * sc];
  return result;
}

function toNchw(data, shape) {
  if (layout !== 'nhwc' || shape.length !== 4) return data;
  const [n, c, h, w] = shape;
  return transposed(data, [n, h, w, c], [2, 0, 1]);
}

function fromNchw(data, shape) {
  return layout === 'nhwc' && shape.length === 4 ? transposed(data, shape, [1, 2, 0]) : data;
}

function readFloats(file) {
  const bytes = readFileSync(file);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

const count = (shape) => shape.reduce((product, extent) => product * extent, 1);
const isStatic = (shape) => shape.every((extent) => typeof extent === 'number' && extent >= 0);

/** Whole numbers are passed as floats. */
function tensorOf(ort, type, floats, shape) {
  if (type === 'int64') return new ort.Tensor(type, BigInt64Array.from(floats, (x) => BigInt(Math.trunc(x))), shape);
  if (type === 'float32') return new ort.Tensor(type, toNchw(floats, shape), shape);
  throw new Error(`an input of ${type}`);
}

/** A session with its inputs in place, and with memory for outputs whose extents are known. */
async function load() {
  const ort = require('onnxruntime-node');
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  });
  const floats = readFloats(inputFile), feeds = {}, fetches = {};
  let used = 0;
  for (const { name, shape, type = 'float32' } of session.inputMetadata) {
    const extents = shape.map((extent) => (typeof extent === 'number' && extent >= 0 ? extent : 1));  // --batch 1
    feeds[name] = tensorOf(ort, type, floats.slice(used, used + count(extents)), extents);
    used += count(extents);
  }
  if (used !== floats.length) throw new Error(`${floats.length} floats for inputs of ${used}`);
  for (const { name, shape, type = 'float32' } of session.outputMetadata) {
    const known = isStatic(shape) && type === 'float32';
    fetches[name] = known ? new ort.Tensor(type, new Float32Array(count(shape)), shape) : null;
  }
  return { session, feeds, fetches };
}

async function answer(command, loaded) {
  const { session, feeds, fetches } = loaded;
  if (command === 'run') {
    const start = process.hrtime.bigint();
    const results = await session.run(feeds, fetches);
    const time = process.hrtime.bigint() - start;
    loaded.results = Object.keys(fetches).map((name) => fetches[name] ?? results[name]);
    return time;
  }
  if (command.startsWith('output ')) {
    const outputs = loaded.results.map(({ data, dims }) => fromNchw(Float32Array.from(data, Number), dims));
    const floats = new Float32Array(outputs.reduce((sum, output) => sum + output.length, 0));
    let at = 0;
    for (const output of outputs) {
      floats.set(output, at);
      at += output.length;
    }
    writeFileSync(command.slice('output '.length), new Uint8Array(floats.buffer));
    return floats.length;
  }
  throw new Error(`unknown command '${command}'`);
}

/** Lines of standard input, read synchronously on demand, so that nothing else runs during an inference. */
function* lines() {
  const block = Buffer.alloc(4096);
  let text = '';
  for (let count; (count = readSync(0, block)) > 0; ) {
    text += block.toString('utf8', 0, count);
    for (let end; (end = text.indexOf('\n')) >= 0; text = text.slice(end + 1)) yield text.slice(0, end);
  }
}

const say = (text) => writeSync(1, text.replaceAll('\n', ' ') + '\n');

try {
  if (model === undefined) {
    require('onnxruntime-node');
    say(require('onnxruntime-node/package.json').version);
  } else {
    const loaded = await load();
    for (const command of lines()) say(`ok ${await answer(command, loaded)}`);
  }
} catch (error) {
  say((model === undefined ? '' : 'error ') + error.message.split('\n')[0]);
  process.exitCode = 1;
}
