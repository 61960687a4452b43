#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a program's output is the block after `<!-- output: name -->` in a page of the documentation.

usage: check_output.py <page> <name> <program> [argument]...
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def shown_in(page, name):
    """The block's text, or None."""
    found = re.search(rf"<!-- output: {re.escape(name)} -->\n```\w*\n(.*?)```", page, re.DOTALL)
    return found[1] if found else None


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    page, name, program, *arguments = sys.argv[1:]
    command = [str(pathlib.Path(program).resolve()), *arguments]
    shown = shown_in(pathlib.Path(page).read_text(encoding="utf-8"), name)
    if shown is None:
        sys.exit(f"{page} has no <!-- output: {name} -->")
    with tempfile.TemporaryDirectory() as folder:  # programs may write files
        command = [sys.executable, "-B", *command] if program.endswith(".py") else command
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=False)
    if done.returncode == 77:
        return 77
    printed = done.stdout.decode()
    if done.returncode or printed != shown:
        print(f"{page} shows for {name}:\n{shown}The program exited with {done.returncode} and printed:\n{printed}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
