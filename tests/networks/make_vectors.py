#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes outputs of PyTorch's networks, torchvision's and transformers, for parameters and inputs from a formula.

    make_vectors.py > vectors.inc      write all vectors
    make_vectors.py --check            compute them again and compare with vectors.inc; 77 if PyTorch is missing

Needs PyTorch and torchvision (written with 1.13 and 0.14). The C++ test repeats the formula of `uniform`, so only some
outputs of each network are stored, and the largest one. Computed in double precision.
"""
import argparse
import pathlib
import re
import sys
import textwrap

try:
    import numpy as np
    import torch
    import torchvision

    import transformers
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)



def image(size):
    return torch.from_numpy(uniform(0, size * size * 3, -1, 1)).reshape(1, size, size, 3).permute(0, 3, 1, 2).double()


def embedded(tokens):
    return torch.from_numpy(uniform(0, tokens * 128, -1, 1)).reshape(1, tokens, 128).double()


def ids(tokens):
    return torch.from_numpy(uniform(0, tokens, 0, 30522).astype(np.int64)).reshape(1, tokens)


IMAGES = (56, 112, 224)
# Name, constructor, input, and sizes of the input.
NETWORKS = [
    ("mnasnet", lambda size: torchvision.models.mnasnet1_0(weights=None), image, IMAGES),
    ("mobilenet_v2", lambda size: torchvision.models.mobilenet_v2(weights=None), image, IMAGES),
    ("shufflenet_v2", lambda size: torchvision.models.shufflenet_v2_x1_0(weights=None), image, IMAGES),
    ("squeezenet", lambda size: torchvision.models.squeezenet1_1(weights=None), image, IMAGES),
    ("mobilevit_s", lambda size: transformers.MobileVitS(), image, (64, 224, 256)),
    ("bert_tiny", lambda size: transformers.BertTiny(), embedded, (16, 128)),
    ("bert_tiny_ids", transformers.BertTinyOfIds, ids, (128,)),
]
KEPT = 40  # outputs of each network
TOLERANCE = 1e-5  # in --check: another release may add in another order


def uniform(first, count, low, high):
    """Numbers first ... first + count - 1 of a sequence: hashes of the index, spread over low ... high."""
    x = np.arange(first, first + count, dtype=np.uint64).astype(np.uint32)
    x = (x + np.uint32(0x9E3779B9)) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0xC2B2AE35)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0x27D4EB2F)
    x ^= x >> np.uint32(16)
    unit = (x >> np.uint32(8)).astype(np.float64) * 2.0**-24
    return (low + (high - low) * unit).astype(np.float32)


def bounds(name, tensor):
    """The range of a parameter, chosen so that values neither vanish nor explode."""
    if name.endswith("running_mean"):
        return -0.2, 0.2
    if name.endswith("running_var"):
        return 0.8, 1.25
    if tensor.dim() > 1:  # weights: the variance of the outputs is that of the inputs, through a ReLU
        high = (6.0 / tensor[0].numel()) ** 0.5
        return -high, high
    if name.endswith("weight"):  # of a batch norm
        return 0.6, 1.4
    return -0.3, 0.3


def answer(build, make_input, size):
    network = build(size).eval()
    offset = 0
    for name, tensor in network.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        values = uniform(offset, tensor.numel(), *bounds(name, tensor))
        tensor.copy_(torch.from_numpy(values).reshape(tensor.shape))
        offset += tensor.numel()
    with torch.no_grad():
        return offset, network.double()(make_input(size)).numpy().ravel()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    lines = []
    for name, build, make_input, sizes in NETWORKS:
        for size in sizes:
            parameters, outputs = answer(build, make_input, size)
            kept = ", ".join("%.9g" % x for x in outputs[:: len(outputs) // KEPT][:KEPT])
            row = "{\"%s\", %d, %d, %.9g, {%s}}," % (name, size, parameters, np.abs(outputs).max(), kept)
            lines.append(textwrap.fill(row, 119, subsequent_indent=" "))
    text = "\n".join(lines) + "\n"
    if not check:
        sys.stdout.write(text)
        return 0
    committed = (pathlib.Path(__file__).parent / "vectors.inc").read_text()
    numbers = [np.array([float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", t)]) for t in (committed, text)]
    same = numbers[0].shape == numbers[1].shape and np.allclose(*numbers, rtol=TOLERANCE, atol=TOLERANCE)
    print("vectors.inc " + ("agrees" if same else "does not agree") + " with PyTorch")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
