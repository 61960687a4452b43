#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the jobs of the workflow are the stages of .ci/run.

usage: check_workflow.py REPOSITORY
"""
import pathlib
import re
import sys


def stages(path, pattern):
    found = re.search(pattern, path.read_text(encoding="utf-8"))
    if not found:
        sys.exit(f"{path}: no list of stages")
    return set(re.split(r"[,\s]+", found[1].strip()))


root = pathlib.Path(sys.argv[1])
run = stages(root / ".ci" / "run", r"\|\| stages=\(([^)]*)\)") - {"setup"}
jobs = stages(root / ".github" / "workflows" / "ci.yml", r"stage: \[([^\]]*)\]")
if run != jobs:
    sys.exit(f"stages only in .ci/run: {sorted(run - jobs)}; only in the workflow: {sorted(jobs - run)}")
