#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small random networks in the layer algebra, as C++, for the differential test.

    generate.py --networks 160 --files 6 --seed 1 --out <folder>

Writes <folder>/networks_<k>.cpp and networks.hpp, and prints how often each layer occurs. The same arguments give the
same files: only random() is used, whose sequence Python guarantees.
"""
import argparse
import collections
import pathlib
import re

from networks import Networks


HEADER = """// Written by generate.py.
#pragma once

#include <differential/subject.hpp>

namespace differential {

%s
inline std::vector<subject> all_networks() {
  std::vector<subject> all;
%s  return all;
}

}  // namespace differential
"""


def write(path, text):
    """Writes a file unless it is up to date, so that it is not compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", type=int, default=160)
    parser.add_argument("--files", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    coverage = collections.Counter()
    for file in range(options.files):
        numbers = range(file * options.networks // options.files, (file + 1) * options.networks // options.files)
        lines = ["// Written by generate.py.", "#include <differential/subject.hpp>", "", "namespace differential {",
                 "namespace {", "", "using namespace ago;", ""]
        for k in numbers:
            network = re.sub(r"\binput(\{[^{}]*\})", r"by(input\1)", Networks(options.seed * 100_000 + k, coverage).network())
            lines += [f"constexpr auto make_{k}(larger const& by) {{ return {network}; }}",
                      f"constexpr auto net_{k} = make_{k}({{}});", ""]
        lines += ["}  // namespace", "", f"void add_networks_{file}(std::vector<subject>& list) {{"]
        for k in numbers:
            record = f"[](tracing::recorder& to, larger const& by) {{ record(to, make_{k}(by)); }}"
            lines += [f"  list.push_back(make_subject<net_{k}, {k}>({record}));"]
        lines += ["}", "", "}  // namespace differential", ""]
        write(options.out / f"networks_{file}.cpp", "\n".join(lines))
    declarations = "".join(f"void add_networks_{f}(std::vector<subject>&);\n" for f in range(options.files))
    calls = "".join(f"  add_networks_{f}(all);\n" for f in range(options.files))
    write(options.out / "networks.hpp", HEADER % (declarations, calls))
    print(f"{options.networks} networks in {options.files} files, seed {options.seed}:")
    for name, count in sorted(coverage.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:6} {name}")


if __name__ == "__main__":
    main()
