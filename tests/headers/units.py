#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints headers of ago, separated by semicolons, that show as translation units that each header compiles alone.

In the unit of another, a header is compiled as if alone if all that the compiler has read before it is what the header
itself includes. (Then what it lacks is missing in the unit, too: what it includes has been checked likewise.)

usage: units.py <include directory>
"""
import functools
import pathlib
import re
import sys


class Headers:
    """All headers and what they include, which does not depend on macros."""

    def __init__(self, include):
        paths = sorted((include / "ago").rglob("*.hpp"))
        self.includes = {str(path.relative_to(include)): re.findall(r"^#include <(ago/[^>]+)>$", path.read_text(),
                                                                   re.MULTILINE) for path in paths}

    @functools.cache
    def all_included(self, header):
        """Also by other headers."""
        return frozenset().union(*({h} | self.all_included(h) for h in self.includes[header]))

    def compiled_as_if_alone(self, unit):
        """The headers that the unit of a header compiles as if alone."""
        entered, read, found = set(), set(), set()

        def enter(header):
            if header in entered:
                return
            entered.add(header)
            if read <= self.all_included(header):
                found.add(header)
            for other in self.includes[header]:
                enter(other)
            read.add(header)

        enter(unit)
        return found

    def units(self):
        """Those that include the most come first."""
        left, found = set(self.includes), []
        for header in sorted(self.includes, key=lambda h: (-len(self.all_included(h)), h)):
            if header in left:
                found.append(header)
                left -= self.compiled_as_if_alone(header)
        return found


if __name__ == "__main__":
    print(";".join(Headers(pathlib.Path(sys.argv[1])).units()))
