#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports torchvision's MobileNet-V2, including batch norms, and compares with examples/networks/mobilenet_v2.hpp: weights
in the order of PyTorch's parameters, a header of at most 150 lines, the same steps, bit-identical results. Skipped without
PyTorch.

usage: mobilenet_v2.py <ago-import> <compiler> <folder>
"""
import pathlib
import subprocess
import sys
import warnings

SOURCE = pathlib.Path(__file__).resolve().parents[2]
IMPORTER, COMPILER, WORK = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
LINES = 150

try:
    import numpy as np
    import torch
    import torchvision
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def write_model():
    """Writes model.onnx with nothing folded and with norms that are not the identity, and its parameters."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = torchvision.models.mobilenet_v2(weights=None).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            for tensor, low, high in ((module.weight.data, .8, 1.2), (module.bias.data, -.2, .2),
                                      (module.running_mean, -.2, .2), (module.running_var, .7, 1.3)):
                tensor.uniform_(low, high)
    parameters = [t.numpy().ravel() for name, t in network.state_dict().items() if not name.endswith("num_batches_tracked")]
    np.concatenate(parameters).tofile(WORK / "parameters")
    warnings.simplefilter("ignore")
    torch.onnx.export(network, torch.zeros(1, 3, 224, 224), str(WORK / "model.onnx"), opset_version=13,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)


def run(*command):
    done = subprocess.run([str(word) for word in command], check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}")


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    write_model()
    for name, more in ("channels_first", []), ("channels_last", ["--channels-last"]):
        run(IMPORTER, WORK / "model.onnx", "--name", name, "--out", WORK, *more)
        if (WORK / f"{name}.weights").read_bytes() != (WORK / "parameters").read_bytes():
            sys.exit(f"{name}: the weights are not PyTorch's parameters")
        lines = len((WORK / f"{name}.hpp").read_text(encoding="utf-8").splitlines())
        if lines > LINES:
            sys.exit(f"{name}: {lines} lines, more than {LINES}")
        print(f"{name}: {lines} lines", flush=True)
    run(COMPILER, "-std=c++20", "-O1", "-march=native", "-Wall", "-Wextra", "-Werror", "-I", SOURCE / "include", "-I",
        SOURCE / "examples", "-I", WORK, SOURCE / "tests/import/mobilenet_v2.cpp", "-o", WORK / "two_networks")
    run(WORK / "two_networks", WORK / "channels_first.weights", WORK / "channels_last.weights", WORK / "parameters")


if __name__ == "__main__":
    main()
