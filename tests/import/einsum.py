#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports random einsum equations, compiles what ago-import writes, runs it, and compares with numpy.einsum.

    einsum.py --tools BUILD [--count 1000] [--seed 1]

Equations have up to four operands, among them equal ones, up to six labels, ellipses that broadcast, labels that occur
twice in an operand, and implied results. If NumPy is missing, the program says so and ends with 77.
"""
import argparse
import collections
import pathlib
import random
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run_reference import Importer  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

LARGEST = 100_000  # products of all extents of an equation


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def part(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def element_type(x):
    return 7 if x.dtype.kind == "i" else 1


def value(field, name, x):
    dims = b"".join(part(1, number(1, n)) for n in x.shape)
    return part(field, part(1, name) + part(2, part(1, number(1, element_type(x)) + part(2, dims))))


def initializer(name, x):
    x = numpy.asarray(x, numpy.int64 if x.dtype.kind == "i" else numpy.float32)
    return part(5, b"".join(number(1, n) for n in x.shape) + number(2, element_type(x)) + part(8, name) +
                part(9, x.tobytes()))


def attribute(name, x):
    if isinstance(x, str):
        return part(5, part(1, name) + part(4, x) + number(20, 3))
    if isinstance(x, float):
        return part(5, part(1, name) + varint(2 << 3 | 5) + struct.pack("<f", x) + number(20, 1))
    if isinstance(x, list):
        return part(5, part(1, name) + b"".join(number(8, i % 2**64) for i in x) + number(20, 7))
    return part(5, part(1, name) + number(3, x % 2**64) + number(20, 2))


# An operator: its type, a text that describes it, its attributes, the names of its inputs or constants for them,
# further inputs that are constant, the result, and which output that is.
Node = collections.namedtuple("Node", "type text attributes inputs constants result output", defaults=(0,))


def model(nodes, data):
    """An ONNX file. Inputs x0, x1, ... are like `data`, outputs are y0, y1, ..."""
    graph = part(2, "test")
    for i, n in enumerate(nodes):
        all_inputs = n.inputs + n.constants
        constants = [(f"c{i}_{k}", x) for k, x in enumerate(all_inputs) if not isinstance(x, str)]
        operands = [x if isinstance(x, str) else f"c{i}_{k}" for k, x in enumerate(all_inputs)]
        outputs = [f"unread{i}_{k}" for k in range(n.output)]
        graph += part(1, b"".join(part(1, o) for o in operands) +
                      b"".join(part(2, o) for o in outputs + [f"y{i}"]) + part(3, n.text) +
                      part(4, n.type) + b"".join(attribute(*a) for a in n.attributes.items()))
        graph += b"".join(initializer(*c) for c in constants)
    graph += b"".join(value(11, f"x{k}", x) for k, x in enumerate(data))
    graph += b"".join(value(12, f"y{i}", n.result) for i, n in enumerate(nodes))
    return number(1, 8) + part(7, graph) + part(8, part(1, "") + number(2, 24))


def random_equation(draw):
    """An equation, and the shapes of its operands; equal operands have equal places."""
    while True:
        labels = draw.sample("abcdefABXYZ", draw.randint(1, 6))
        extent = {label: draw.randint(1, 6) for label in labels}
        wide = [draw.randint(1, 4) for _ in range(draw.randint(1, 2))] if draw.random() < .35 else []
        terms, shapes, places = [], [], []
        for i in range(draw.randint(1, 4)):
            if i > 0 and draw.random() < .15:  # the same value, perhaps with its labels in another order
                k = draw.randrange(len(terms))
                if "." not in terms[k]:
                    order = list(terms[k])
                    draw.shuffle(order)
                    order = order if [extent[x] for x in order] == shapes[places[k]] else list(terms[k])
                    terms.append("".join(order))
                    places.append(places[k])
                    continue
            own = draw.sample(labels, draw.randint(1, min(4, len(labels))))
            if draw.random() < .15:
                own.insert(draw.randint(0, len(own)), draw.choice(own))
            shape = [extent[x] for x in own]
            term = "".join(own)
            if wide and (i == 0 or draw.random() < .6):
                own_wide = [1 if draw.random() < .25 else n for n in wide[draw.randint(0, len(wide) - 1):]]
                at = draw.randint(0, len(own))
                term = term[:at] + "..." + term[at:]
                shape[at:at] = own_wide
            terms.append(term)
            places.append(len(shapes))
            shapes.append(shape)
        used = sorted({x for t in terms for x in t if x != "."})
        size = 1
        for n in [extent[x] for x in used] + wide:
            size *= n
        if size > LARGEST or any(len(s) > 6 for s in shapes):
            continue
        left = (", " if draw.random() < .2 else ",").join(terms)
        if draw.random() < .2:
            return left, shapes, places
        result = draw.sample(used, draw.randint(0, min(4, len(used))))
        if any("." in t for t in terms):
            result.insert(draw.randint(0, len(result)), "...")
        return left + "->" + "".join(result), shapes, places


def run_batch(importer, name, nodes, data):
    """The nodes that are refused or differ."""
    folder = importer.work / name
    folder.mkdir()
    for k, x in enumerate(data):
        numpy.save(folder / f"input_{k}.npy", x)
    for k, n in enumerate(nodes):
        numpy.save(folder / f"output_{k}.npy", numpy.asarray(n.result, numpy.float32))
    (folder / "model.onnx").write_bytes(model(nodes, data))
    wrong = importer.convert(folder / "model.onnx", name)
    if wrong:
        return [line for line in wrong.splitlines() if line.startswith("node")] or [wrong]
    wrong = importer.compile([name], f"run_{name}")
    if wrong:
        return [f"{name}: not compiled: {wrong}"]
    case = {"name": name, "inputs": [folder / f"input_{k}.npy" for k in range(len(data))],
            "outputs": [folder / f"output_{k}.npy" for k in range(len(nodes))]}
    found, wrong = importer.compare(f"run_{name}", [case],
                                    ["--absolute", "1e-4", "--of-largest", "0", "--relative", "1e-4"])
    if wrong or len(found[name]) != len(nodes):
        return [f"{name}: {wrong or 'it crashed'}"]
    return [f"{n.text} of {[list(data[int(x[1:])].shape) for x in n.inputs if isinstance(x, str)]}: {text}"
            for n, (good, text) in zip(nodes, found[name]) if not good]


def equations(draw):
    def network(_, count):
        nodes, data = [], []
        while len(nodes) < count:
            equation, shapes, places = random_equation(draw)
            own = [numpy.array([draw.randint(-8, 8) / 4 for _ in range(int(numpy.prod(s)))], numpy.float32).reshape(s)
                   for s in shapes]
            y = numpy.einsum(equation, *[own[k].astype(numpy.float64) for k in places])
            if y.ndim > 6:
                continue
            names = [f"x{len(data) + k}" for k in range(len(own))]
            data += own
            nodes.append(Node("Einsum", equation, {"equation": equation}, [names[k] for k in places], [],
                              numpy.asarray(y)))
        return nodes, data
    return network


def parsed(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, help="a build folder")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=25, help="operators in one network")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="-O0")
    return parser.parse_args()


def run_all(arguments, network, what):
    """Runs arguments.count operators; `network` makes those from one number on, and their inputs."""
    arguments.work = tempfile.mkdtemp(prefix="ago_operators_")
    importer, bad, done = Importer(arguments), [], 0
    try:
        while done < arguments.count:
            count = min(arguments.together, arguments.count - done)
            found = run_batch(importer, f"operators_{done}", *network(done, count))
            for line in found:
                print(line, flush=True)
            bad += found
            done += count
    finally:
        shutil.rmtree(arguments.work)
    print(f"{done - len(bad)} of {done} {what}")
    return 1 if bad else 0


def main():
    arguments = parsed(__doc__)
    if numpy is None:
        print("skipped: NumPy is missing (python3-numpy)")
        return 77
    return run_all(arguments, equations(random.Random(arguments.seed)), "equations equal numpy.einsum")


if __name__ == "__main__":
    sys.exit(main())
