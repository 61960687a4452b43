#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tutorial 2: lists and converts ring.npz with tools/weights.py, and fails unless the result equals ring.weights.
Needs NumPy.

usage: convert.py <program that prints the table of parameters>
"""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

if not importlib.util.find_spec("numpy"):
    print("NumPy is not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    table, blob = pathlib.Path(folder) / "ring.json", pathlib.Path(folder) / "ring.weights"
    table.write_bytes(subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, check=True).stdout)
    tool = HERE.parents[1] / "tools/weights.py"
    arguments = [sys.executable, "-B", tool, table, HERE / "ring.npz", blob]
    subprocess.run([*arguments, "--list"], check=True)
    converted = subprocess.run(arguments, check=False)
    if converted.returncode == 0 and blob.read_bytes() != (HERE / "ring.weights").read_bytes():
        sys.exit("ring.weights is not what tools/weights.py makes of ring.npz")
sys.exit(converted.returncode)
