// ONNX Runtime behind standard input and output, for bench/networks: a line for each command, a line for each answer.
//
//   node onnxruntime.mjs PACKAGES                         prints the version of onnxruntime-node in PACKAGES/node_modules
//   node onnxruntime.mjs PACKAGES MODEL INPUT THREADS     then answers
//     run             infers once, "ok NANOSECONDS"
//     output FILE     writes what the last run computed, float32, "ok FLOATS"
//
// INPUT is a file of float32. Images are NHWC in the files and NCHW in the model.
import { readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [packages, model, inputFile, threads] = process.argv.slice(2);
const require = createRequire(resolve(packages, 'any.js'));

/** The extents of `from` in another order, its elements moved accordingly. */
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

function toNchw(data, [n, c, h, w]) {
  return transposed(data, [n, h, w, c], [2, 0, 1]);
}

function toNhwc(data, shape) {
  return shape.length === 4 ? transposed(data, shape, [1, 2, 0]) : data;
}

function readFloats(file) {
  const bytes = readFileSync(file);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

function only(what, list) {
  if (list.length !== 1) throw new Error(`the model has ${list.length} ${what}`);
  return list[0];
}

/** A session with its input in place, and memory for its output. */
async function load() {
  const ort = require('onnxruntime-node');
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  });
  const input = only('inputs', session.inputMetadata), output = only('outputs', session.outputMetadata);
  const floats = readFloats(inputFile);
  const count = (shape) => shape.reduce((product, extent) => product * extent, 1);
  if (floats.length !== count(input.shape)) throw new Error(`${floats.length} floats for an input of ${input.shape}`);
  const data = input.shape.length === 4 ? toNchw(floats, input.shape) : floats;
  const feeds = { [input.name]: new ort.Tensor('float32', data, input.shape) };
  const result = new ort.Tensor('float32', new Float32Array(count(output.shape)), output.shape);
  return { session, feeds, result, fetches: { [output.name]: result } };
}

async function answer(command, { session, feeds, fetches, result }) {
  if (command === 'run') {
    const start = process.hrtime.bigint();
    await session.run(feeds, fetches);
    return process.hrtime.bigint() - start;
  }
  if (command.startsWith('output ')) {
    const floats = toNhwc(result.data, result.dims);
    writeFileSync(command.slice('output '.length), new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength));
    return floats.length;
  }
  throw new Error(`unknown command '${command}'`);
}

/** Lines of the standard input, read only when one is wanted: nothing runs beside an inference. */
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
