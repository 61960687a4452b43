#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that docs/errors.md has every sentence that stops a compilation, and that this folder has every fault.

usage: check_errors.py <repository> [compiler]
With a compiler that is g++ 12, its output must be that shown in docs/errors.md and README.md, but for line numbers.
"""
import os
import pathlib
import re
import subprocess
import sys

ASSERTION = re.compile(r'static_assert\([^;]*?,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\);')
SHOWN = re.compile(r"<!-- error: (\S+) -->\n+```text\n(.*?)```", re.DOTALL)  # a file of this folder, the output on a page


def sentences(include):
    """The sentences for users in static assertions, in macros for them, and in #error."""
    for header in sorted(include.rglob("*.hpp")):
        text = header.read_text()
        yield from (match[1] for match in re.finditer(r'#(?:error|define \w+)[ \\\n]+"ago: ([^"]+)"', text))
        for match in ASSERTION.finditer(text):
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1]))
            if text.startswith("ago: "):
                yield text.removeprefix("ago: ")


def faults(header):
    """The faults that a header enumerates."""
    body = re.search(r"enum class \w*fault[^{]*\{([^}]*)\}", header.read_text())[1]
    return [name for name in re.findall(r"\w+", body) if name != "none"]


# Where faults are enumerated, and where their sentences are.
FAULTS = {"ir/graph.hpp": "network/check.hpp", "expression/fault.hpp": "expression/check.hpp",
          "partition/fault.hpp": "partition/fault.hpp"}


# An expression in a network is refused with the fault of the expression, of which there are mistakes.
REPORTED_OTHERWISE = {"expression_does_not_fit"}


def without_positions(text):
    """Quotes as in the C locale, and without line numbers, which change with every edit of a header."""
    text = re.sub(r":\d+(:\d+)?", "", re.sub("[‘’]", "'", text))
    return [line for line in text.splitlines() if not re.match(r" +(\d+ )?\|", line)]


def example_faults(root, page, compiler):
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    if "g++" not in version.splitlines()[0] or not re.search(r" 12\.\d", version.splitlines()[0]):
        return
    examples = SHOWN.findall((root / page).read_text())
    if not examples:
        yield f"{page} has no compiler output after a line <!-- error: FILE -->"
    for name, shown in examples:
        command = [compiler, "-std=c++20", "-I../../include", "-fsyntax-only", name]
        printed = subprocess.run(command, cwd=root / "tests/fail", env=dict(os.environ, LC_ALL="C"), capture_output=True,
                                 text=True, check=False).stderr
        if without_positions(shown) != without_positions(printed):
            yield f"{page} shows an output for {name} that differs from:\n{printed}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    document = (root / "docs/errors.md").read_text()
    plain = document.replace("\\|", "|")
    mistakes = "".join(path.read_text() for path in (root / "tests/fail").glob("*.cpp"))
    found = list(sentences(root / "include"))
    missing = [f"docs/errors.md does not have the sentence: {s}" for s in found if f"| {s} |" not in plain]
    ago = root / "include/ago"
    for enumerated, asserted in FAULTS.items():
        known = re.findall(r"static_assert\([\w:]*is_not<\w+>\([\w:]*fault::(\w+)\)", (ago / asserted).read_text())
        missing += [f"{asserted} has no sentence for the fault {f}" for f in faults(ago / enumerated)
                    if f not in known and f not in REPORTED_OTHERWISE]
    for fault in faults(ago / "ir/graph.hpp") + faults(ago / "expression/fault.hpp"):
        if f"| `{fault}` |" not in plain:
            missing.append(f"docs/errors.md does not have the fault {fault}")
        if fault not in REPORTED_OTHERWISE and not re.search(rf"// (misfit: {fault} |expect: .*fault::{fault})", mistakes):
            missing.append(f"tests/fail has no mistake for the fault {fault}")
    for compiler in sys.argv[2:]:
        for page in ("README.md", "docs/errors.md"):
            missing += example_faults(root, page, compiler)
    print(*missing, sep="\n")
    return 1 if missing or len(found) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
