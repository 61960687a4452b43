#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the cost of compiling a network: seconds, peak memory, machine code.

Compiles generated translation units with every compiler found: the headers alone; MobileNet-V2 cut after 1, 2, 4, 8
and 17 blocks; the whole network; its constant evaluation alone (trace, passes, partition, plan; no kernels); and
Algorithm 1 on a thousand operators, with the headers that it needs. Seconds are the compiler's processor time (user +
system), the minimum of the repetitions.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = ["g++", "clang++-14", "clang++-19", "clang++"]
BLOCKS = [1, 2, 4, 8, 17]
BUDGET = {"seconds": 15.0, "peak_mib": 1500.0}  # for the whole network with g++
CONSTEXPR_BUDGET = 1.0  # seconds beyond those of the headers, for each constant evaluation

HEADERS = "#include <ago/ago.hpp>\n"
NETWORK = HEADERS + """#include <networks/mobilenet_v2.hpp>

using namespace ago;
"""
CUT = NETWORK + """
// The first {blocks} of MobileNet-V2's 17 blocks.
inline constexpr auto body = [](tensor x) {{
  struct {{ int expand, out, count, stride; }} constexpr table[] = {{
      {{1, 16, 1, 1}}, {{6, 24, 2, 2}}, {{6, 32, 3, 2}}, {{6, 64, 4, 2}}, {{6, 96, 3, 1}}, {{6, 160, 3, 2}}, {{6, 320, 1, 1}}}};
  int left = {blocks};
  for (auto [expand, out, count, stride] : table)
    for (int i = 0; i < count && left > 0; ++i, --left)
      x = x | networks::mobilenet::inverted_residual(expand, out, i == 0 ? stride : 1);
  return x;
}};
inline constexpr auto net = input{{.h = 224, .w = 224, .c = 3}}
    | networks::mobilenet::conv_bn_relu6({{.out = 32, .kernel = 3, .stride = 2, .pad = 1}})
    | body | global_avg_pool{{}} | linear{{1000}};
"""
RUN = """
using model_type = ago::model<{net}>;
void load(void* memory, float const* weights) {{
  ::new (memory) model_type(std::span<float const, model_type::parameter_count>(weights, model_type::parameter_count));
}}
void run(model_type& m, float const* in, float* out) {{
  m(std::span<float const, model_type::input_size()>(in, model_type::input_size()),
    std::span<float, model_type::output_size()>(out, model_type::output_size()));
}}
"""
PLAN = "\nstatic_assert(ago::program<{net}>::plan.packed_floats > 0 && ago::program<{net}>::steps > 0);\n"

PARTITION_HEADERS = "#include <ago/partition/cluster.hpp>\n"
CLUSTER = PARTITION_HEADERS + """
// Inverted residuals: chains of nine operators; the last one also reads the end of the previous chain.
constexpr auto operators = [] {
  ago::partition::dag<1000, 1200> d;
  int edges = 0;
  for (int v = 0; v < 1000; ++v) {
    bool const complex = v % 3 == 0;
    d.weight[v] = complex ? 100'000 + v % 9 * 5'000 : 25'000;
    d.complex[v] = complex;
    if (v > 0) d.source[edges++] = v - 1;
    if (v % 9 == 8 && v > 8) d.source[edges++] = v - 9;
    d.first[++d.count] = edges;
  }
  return d;
}();
constexpr auto clusters = ago::partition::cluster(operators, 600'000);
static_assert(clusters.count > 100 && clusters.count < 300);
"""


def units(blocks):
    """(name, blocks or None, source, kind). Kinds other than "object" are only evaluated. The first unit of each kind
    has the headers alone."""
    whole = "networks::mobilenet_v2<224>"
    yield "headers", None, HEADERS, "object"
    for n in blocks:
        yield f"blocks: {n}", n, CUT.format(blocks=n) + RUN.format(net="net"), "object"
    yield "mobilenet_v2", None, NETWORK + RUN.format(net=whole), "object"
    yield "headers, syntax", None, NETWORK, "network"
    yield "mobilenet_v2, constexpr", None, NETWORK + PLAN.format(net=whole), "network"
    yield "partition, syntax", None, PARTITION_HEADERS, "partition"
    yield "cluster 1000, constexpr", None, CLUSTER, "partition"


def spend(command):
    """Runs a command. Returns processor seconds, wall seconds and peak memory in MiB, children included."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{output[:4000]}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024


def text_bytes(obj):
    """Bytes of machine code in an object file: all sections .text*."""
    listing = subprocess.run(["size", "-A", "-d", str(obj)], capture_output=True, text=True, check=True).stdout
    return sum(int(m[1]) for m in re.finditer(r"^\.text\S*\s+(\d+)", listing, re.MULTILINE))


def measure(compiler, flags, unit, repetitions, folder):
    name, blocks, source, kind = unit
    constants_only = kind != "object"
    path = folder / "unit.cpp"
    path.write_text(source)
    obj = folder / "unit.o"
    action = ["-fsyntax-only"] if constants_only else ["-c", "-o", obj]
    command = [compiler, *flags, f"-I{ROOT}/include", f"-I{ROOT}/examples", *action, path]
    runs = [spend(command) for _ in range(repetitions)]
    return {
        "compiler": compiler,
        "flags": " ".join(flags),
        "unit": name,
        "blocks": blocks,
        "seconds": round(min(r[0] for r in runs), 2),
        "wall_seconds": round(min(r[1] for r in runs), 2),
        "peak_mib": round(min(r[2] for r in runs)),
        "text_bytes": None if constants_only else text_bytes(obj),
    }


def verdict(results, compiler):
    """Sentences about units that exceed the budget with a compiler."""
    complaints = []
    for r in (r for r in results if r["compiler"] == compiler):
        where = f"{r['unit']} with {compiler} {r['flags']}"
        if r["unit"] == "mobilenet_v2":
            if r["seconds"] > BUDGET["seconds"]:
                complaints.append(f"{where}: {r['seconds']} s; the budget is {BUDGET['seconds']}")
            if r["peak_mib"] > BUDGET["peak_mib"]:
                complaints.append(f"{where}: {r['peak_mib']} MiB; the budget is {BUDGET['peak_mib']}")
        if r["unit"].endswith(", constexpr") and r["beyond_headers"] > CONSTEXPR_BUDGET:
            complaints.append(f"{where}: {r['beyond_headers']} s beyond the headers; the budget is {CONSTEXPR_BUDGET}")
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", nargs="+", help="default: those installed of " + ", ".join(COMPILERS))
    parser.add_argument("--levels", default="O2,O3", help="optimisation levels, separated by commas")
    parser.add_argument("--flags", default="-std=c++20 -march=native", help="all other flags")
    parser.add_argument("--blocks", nargs="*", type=int, default=BLOCKS)
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object per line instead of a table")
    parser.add_argument("--check", action="store_true", help="fail if anything exceeds the budget with g++")
    arguments = parser.parse_args()

    compilers = arguments.compilers or [c for c in COMPILERS if shutil.which(c)]
    if not compilers:
        sys.exit("no compiler found")
    if not arguments.json:
        print(f"{'compiler':12} {'level':5} {'unit':24} {'seconds':>8} {'wall':>8} {'MiB':>6} {'.text':>9} {'beyond headers':>15}")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for compiler in compilers:
            for level in ("-" + name for name in arguments.levels.split(",")):
                flags = [level, *arguments.flags.split()]
                base = {}
                for unit in units(arguments.blocks):
                    r = measure(compiler, flags, unit, arguments.repetitions, Path(folder))
                    base.setdefault(unit[3], r["seconds"])
                    r["beyond_headers"] = round(r["seconds"] - base[unit[3]], 2)
                    results.append(r)
                    if arguments.json:
                        print(json.dumps(r), flush=True)
                    else:
                        text = "" if r["text_bytes"] is None else r["text_bytes"]
                        print(f"{compiler:12} {level:5} {r['unit']:24} {r['seconds']:8.2f} {r['wall_seconds']:8.2f} "
                              f"{r['peak_mib']:6} {text:>9} {r['beyond_headers']:15.2f}", flush=True)
    complaints = verdict(results, "g++") if arguments.check else []
    for c in complaints:
        print("over budget: " + c, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
