#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every C++ block of the documentation is part of a compiled file.

In README.md and docs/*.md, the line before a block names its file: the whole file, or the part between the lines
`// [tag]` and `// [/tag]`.

    <!-- file: examples/digits/network.hpp#tag -->
    ```cpp
    ...
    ```

usage: check_docs.py <repository> [compile_commands.json]   the .cpp files named must be among those that are compiled
       check_docs.py <repository> --update                  copies the files into the blocks
"""
import json
import pathlib
import re
import sys
import textwrap

FENCE = re.compile(r"(\s*)(```+|~~~+)\s*(\S*)")
SOURCE = re.compile(r"\s*<!-- file: ([^#\s]+)(?:#(\S+))? -->\s*")
CPP = {"cpp", "c++", "cxx", "cc", "hpp"}


def blocks(text):
    """(line number of the opening fence, source comment or None, lines of code) of each C++ block."""
    lines = text.splitlines()
    i, above = 0, ""
    while i < len(lines):
        opening = FENCE.match(lines[i])
        if not opening:
            above = lines[i] if lines[i].strip() else above
            i += 1
            continue
        closing = re.compile(r"\s*" + re.escape(opening[2]) + r"\s*$")
        end = next((j for j in range(i + 1, len(lines)) if closing.match(lines[j])), len(lines))
        if opening[3].lower() in CPP:
            yield i + 1, SOURCE.fullmatch(above), lines[i + 1:end]
        i, above = end + 1, ""


def region(text, tag):
    """The lines between // [tag] and // [/tag] without markers and licence line; None if there is no such region."""
    lines, inside, found = [], tag is None, tag is None
    for line in text.splitlines():
        if line.startswith("// SPDX-License-Identifier:"):
            continue
        marker = re.fullmatch(r"\s*// \[(/?)([\w-]+)\]\s*", line)
        if marker:
            if marker[2] == tag:
                inside = not marker[1]
                found = True
        elif inside:
            lines.append(line)
    return "\n".join(lines) if found and not (inside and tag) else None


def normal(code):
    return textwrap.dedent(code).strip("\n")


def pages(root):
    return [page for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))] if page.exists()]


def check_block(root, compiled, source, code):
    """The fault of a block, or None."""
    if not source:
        return "no <!-- file: ... --> before this block"
    path = root / source[1]
    if not path.is_file():
        return f"there is no file {source[1]}"
    by_itself = source[1].startswith("tests/fail/")  # their test calls the compiler
    if compiled is not None and path.suffix == ".cpp" and path.resolve() not in compiled and not by_itself:
        return f"{source[1]} is not compiled"
    expected = region(path.read_text(encoding="utf-8"), source[2])
    if expected is None:
        return f"{source[1]} has no region // [{source[2]}] ... // [/{source[2]}]"
    if normal(expected) != normal(code):
        return f"differs from {source[1]}" + (f"#{source[2]}" if source[2] else "")
    return None


def check(root, compiled=None):
    """(number of blocks, complaints)."""
    count, faults = 0, []
    for page in pages(root):
        for line, source, code in blocks(page.read_text(encoding="utf-8")):
            count += 1
            fault = check_block(root, compiled, source, "\n".join(code))
            if fault:
                faults.append(f"{page.relative_to(root)}:{line}: {fault}")
    return count, faults


def update(root):
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        lines = text.splitlines()
        for line, source, code in reversed([*blocks(text)]):
            path = root / source[1] if source else None
            wanted = region(path.read_text(encoding="utf-8"), source[2]) if path and path.is_file() else None
            if wanted is not None:
                lines[line:line + len(code)] = normal(wanted).splitlines()
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    root, compiled = pathlib.Path(sys.argv[1]).resolve(), None
    if sys.argv[2:] == ["--update"]:
        return update(root)
    if len(sys.argv) > 2:
        commands = json.loads(pathlib.Path(sys.argv[2]).read_text())
        compiled = {(pathlib.Path(c["directory"]) / c["file"]).resolve() for c in commands}
    count, faults = check(root, compiled)
    print(*faults, f"{count} C++ blocks, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
