#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that docs/index.md links every page of docs/ exactly once, and that all linked files and headings exist.

usage: check_index.py <repository>
"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
CODE = re.compile(r"^(```+|~~~+).*?^\1\s*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def links(text):
    return [a or b for a, b in LINK.findall(CODE.sub("", text)) if not re.match(r"\w+:", a or b)]


def anchors(text):
    """The anchors that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub(lambda code: code[0] if "\n" not in code[0] else "", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(root):
    docs = root / "docs"
    pages = [root / "README.md", *sorted(docs.rglob("*.md"))]
    for page in pages:
        for link in links(page.read_text(encoding="utf-8")):
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            if not target.exists():
                yield f"{page.relative_to(root)} links {link}, which does not exist"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
                yield f"{page.relative_to(root)} links {link}: there is no such heading"
    index = docs / "index.md"
    linked = [(docs / link.partition("#")[0]).resolve() for link in links(index.read_text(encoding="utf-8"))]
    for page in pages[1:]:
        if page != index and linked.count(page) != 1:
            yield f"docs/index.md links {page.relative_to(root)} {linked.count(page)} times instead of once"


def main():
    found = [*faults(pathlib.Path(sys.argv[1]).resolve())]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
