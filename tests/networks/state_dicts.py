#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that ago's networks with PyTorch's weights, converted by tools/weights.py, give PyTorch's results.

usage: state_dicts.py ANSWER     the program built from answer.cpp

The networks are those of models/export.py in the folder AGO_SHARED, by default "shared" beside the repository. Exit code
77 if that folder, PyTorch or torchvision is missing.
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPORT = pathlib.Path(os.environ.get("AGO_SHARED", ROOT.parent / "shared")) / "models" / "export.py"
TOLERANCE = 1e-5  # largest difference from PyTorch in double precision, as a part of the largest output

try:
    import numpy as np
    import torch
    import torchvision  # noqa: F401, what export.py builds upon
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if not EXPORT.exists():
    print(f"skipped: there is no {EXPORT}")
    sys.exit(77)


def load_export():
    """The module; its networks do not need ONNX."""
    sys.dont_write_bytecode = True
    if importlib.util.find_spec("onnx") is None:
        sys.modules.update({name: types.ModuleType(name) for name in ("onnx", "onnx.numpy_helper")})
    spec = importlib.util.spec_from_file_location("export", EXPORT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def channels_last(x):
    return x.transpose(0, 2, 3, 1) if x.ndim == 4 else x


class Weights:
    """A PyTorch network and its weight blob."""

    def __init__(self, answer, name, size, model, folder):
        self.blob = folder / f"{name}.weights"
        table, state = folder / "table.json", folder / "state.pt"
        table.write_text(run(answer, name, size))
        torch.save(model.state_dict(), state)
        run(sys.executable, "-B", ROOT / "tools" / "weights.py", table, state, self.blob)
        self.model = model.double()
        self.floats = json.loads(table.read_text())["floats"]


def difference(answer, name, size, weights, make_input, folder):
    """The largest difference and the largest output, for an input from export.py."""
    x = make_input()
    with torch.no_grad():
        expected = weights.model(x.double() if x.is_floating_point() else x).numpy()
    given, got = folder / "input", folder / "output"
    np.ascontiguousarray(channels_last(x.numpy()), "<f4").tofile(given)
    run(answer, name, size, weights.blob, given, got)
    actual = np.fromfile(got, "<f4")
    if actual.size != expected.size:
        return np.inf, 1.
    return np.abs(actual - channels_last(expected).ravel()).max(), np.abs(expected).max()


def main():
    answer = str(pathlib.Path(sys.argv[1]).resolve())
    export = load_export()
    torch.set_num_threads(1)
    specs = {name: rest for name, *rest in export.make_specs()}
    failed, weights = 0, {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, size in (line.split() for line in run(answer).splitlines()):
            network, build, make_input = specs[f"{name}_{size}"]
            if name not in weights:
                weights[name] = Weights(answer, name, size, export.build_model(network, build), folder)
            torch.manual_seed(export.SEED + 1)
            worst, largest = difference(answer, name, size, weights[name], make_input, folder)
            good = largest > 0 and worst <= TOLERANCE * largest
            failed += not good
            print(f"{name:20} {size:>3}: {weights[name].floats:8} parameters, largest difference "
                  f"{worst / largest:.1e} of the largest output {largest:.3g}{'' if good else ', TOO LARGE'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
