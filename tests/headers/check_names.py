#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that namespace ago holds the names that docs/api.md lists, and no others. Clang lists them.

usage: check_names.py <include directory> <docs/api.md> <clang++> [flag...]
"""
import pathlib
import re
import subprocess
import sys

LISTED = re.compile(r"<!-- names -->(.*)<!-- /names -->", re.S)


def declared(include, compiler):
    """What all headers together declare directly in ago. (Clang lists template parameters, too: L, Net.)"""
    headers = sorted(str(h.relative_to(include)) for h in (include / "ago").rglob("*.hpp"))
    command = [*compiler, "-std=c++20", f"-I{include}", "-fsyntax-only", "-Xclang", "-ast-list", "-x", "c++", "-"]
    source = "".join(f"#include <{h}>\n" for h in headers)
    found = subprocess.run(command, input=source, check=True, stdout=subprocess.PIPE, text=True).stdout
    return set(re.findall(r"^ago::([a-z]\w+)$", found, re.M))


def listed(page):
    rows = LISTED.search(page.read_text()).group(1).splitlines()
    return [name for row in rows if row.startswith("| ") for name in re.findall(r"`(\w+)`", row.split("|")[2])]


def main():
    include, page, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    names, rows = declared(include, compiler), listed(page)
    twice = {name for name in rows if rows.count(name) > 1}
    faults = [f"ago::{n} is not listed in {page.name}; is it a name that users write? Others belong to the namespace of "
              "their folder" for n in sorted(names - set(rows))]
    faults += [f"ago::{n} is listed in {page.name}, and no header declares it" for n in sorted(set(rows) - names)]
    faults += [f"ago::{n} is listed twice in {page.name}" for n in sorted(twice)]
    print(*faults, f"{len(names)} names, {len(faults)} faults", sep="\n")
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())
