#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the tables of docs/partitioning*.md are those that bench/partitions prints, and the one of
docs/what-is-an-operator.md that of tests/operators/facts_table.cpp.

A table is between `<!-- partitions: name -->` and `<!-- /partitions -->`, and `partitions name` prints it; or with
`operators` in place of `partitions`. In the table
of times, `scaling`, only the columns that do not depend on the machine are compared: all but the last seven, as
`partitions scaling_networks` prints them.

usage: check_tables.py <program> <page>...             prints differences
       check_tables.py <program> <page>... --update    puts the program's tables into the pages
"""
import pathlib
import re
import subprocess
import sys

PLACE = re.compile(r"(<!-- (?:partitions|operators): (\w+) -->\n)(.*?)(<!-- /(?:partitions|operators) -->)", re.DOTALL)
TIMES = {"scaling": 7}  # columns at the end that are times
WITHOUT_TIMES = {"scaling": "scaling_networks"}  # the table that has all others


def without_times(name, table):
    columns = TIMES.get(name, 0)
    return [[cell.strip() for cell in line.strip("|").split("|")][:-columns or None] for line in table.splitlines()]


def faults(page, printed):
    """The faults of a page; `printed(name)` returns a table as printed by the program."""
    found = PLACE.findall(page)
    if not found:
        return ["there is no <!-- partitions: name --> ... <!-- /partitions -->"]
    wrong = []
    for _, name, table, _ in found:
        here = without_times(name, table)
        there = without_times(name, printed(WITHOUT_TIMES.get(name, name)))
        if here != there:
            first = next((i for i, (a, b) in enumerate(zip(here, there)) if a != b), min(len(here), len(there)))
            row = " | ".join(here[first]) if first < len(here) else "no row"
            wrong.append(f"table {name}, line {first + 1}: the page has '{row}', the program prints "
                         f"'{' | '.join(there[first]) if first < len(there) else 'no row'}'")
    return wrong


def main():
    program, *pages = sys.argv[1:] or [None]
    update = pages[-1:] == ["--update"]
    pages = [pathlib.Path(page) for page in (pages[:-1] if update else pages)]
    if not pages:
        sys.exit(__doc__)

    def printed(name):
        return subprocess.run([program, name], stdout=subprocess.PIPE, text=True, check=True).stdout

    wrong = []
    for path in pages:
        page = path.read_text(encoding="utf-8")
        if update:
            path.write_text(PLACE.sub(lambda p: p[1] + printed(p[2]) + p[4], page), encoding="utf-8")
        else:
            wrong += [f"{path}: {line}" for line in faults(page, printed)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
