#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports models with known answers, compiles what ago-import writes, runs it, and compares.

    run_reference.py networks --tools BUILD --reference DIR [--only NAME ...]
    run_reference.py operators --tools BUILD --reference DIR [--only NAME ...] [--write-docs docs/operators.md]

BUILD is a build folder with ago-import and the library ago_compare; DIR has models/ and onnx_node_tests/, whose folders
contain a model.onnx and test_data_set_k/{input,output}_i.pb. If DIR does not exist, the program says so and ends.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def run(command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


def identifier(name):
    return re.sub(r"[\W_]+", "_", name)


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line]
    return lines[-1] if lines else ""


class Importer:
    def __init__(self, arguments):
        self.build = pathlib.Path(arguments.tools)
        self.work = pathlib.Path(arguments.work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.flags = arguments.flags.split()
        self.compiler = arguments.compiler

    def convert(self, model, name, more=()):
        """An empty string, or an error."""
        r = run([self.build / "tools/import/ago-import", model, "--name", name, "--out", self.work, *more])
        return "" if r.returncode == 0 else r.stderr.strip() or f"exit {r.returncode}"

    def compile(self, names, program):
        """Compiles a program with several imported networks; an empty string, or the compiler's first error."""
        source = self.work / f"{program}.cpp"
        lines = [f'#include "{name}.hpp"' for name in names] + ["#include <subject.hpp>", "int main(int argc, char** argv) {",
                 "  ago::importer::subject const all[] = {"]
        lines += [f'    ago::importer::subject_of<{name}::network>("{name}"),' for name in names]
        lines += ["  };", f"  return ago::importer::compare(all, {len(names)}, argc, argv);", "}"]
        source.write_text("\n".join(lines) + "\n")
        libraries = [self.build / "tools/import/libago_compare.a", self.build / "tools/onnx/libago_onnx_import.a",
                     self.build / "tools/support/libago_tool_support.a", "-lonnx_proto", "-lprotobuf", "-lpthread"]
        r = run([self.compiler, "-std=c++20", *self.flags, "-I", SOURCE / "include", "-I", SOURCE / "tools/import",
                 "-I", self.work, source, "-o", self.work / program, *libraries])
        if r.returncode == 0:
            return ""
        errors = [line for line in r.stderr.splitlines() if "error" in line]
        return errors[0] if errors else last_line(r.stderr) or f"the compiler ended with {r.returncode}"

    def compare(self, program, cases, tolerances):
        """The lines of the comparison by name."""
        table = self.work / f"{program}.cases"
        table.write_text("".join("\t".join([c["name"], str(self.work / (c["name"] + ".weights")),
                                            ";".join(map(str, c["inputs"])), ";".join(map(str, c["outputs"]))]) + "\n"
                                 for c in cases))
        r = run([self.work / program, "--cases", table, *tolerances])
        found = collections.defaultdict(list)
        for line in r.stdout.splitlines():
            m = re.match(r"(agrees|DIFFERS)\s+(\w+), (.*)", line)
            if m:
                found[m[2]].append((m[1] == "agrees", m[3]))
        return found, r.stderr.strip() if r.returncode not in (0, 1) else ""


def data_sets(folder):
    return sorted(p for p in folder.glob("test_data_set_*") if p.is_dir())


def stored(folder, stem):
    return sorted(folder.glob(f"{stem}_*.pb"), key=lambda p: int(p.stem.split("_")[-1]))


def check_network(importer, folder):
    name = identifier(folder.name)
    wrong = importer.convert(folder / "model.onnx", name, ["--batch", "1"])
    if wrong:
        return False, "not imported: " + wrong.replace("\n", "; ")
    wrong = importer.compile([name], f"run_{name}")
    if wrong:
        return False, "not compiled: " + wrong
    cases = [{"name": name, "inputs": stored(d, "input"), "outputs": stored(d, "output")} for d in data_sets(folder)]
    one_output = len(cases[0]["outputs"]) == 1
    found, wrong = importer.compare(f"run_{name}", cases, ["--same-place"] if one_output else [])
    lines = found[name]
    if wrong or not lines:
        return False, wrong or "no comparison"
    bad = [text for good, text in lines if not good]
    largest = max(float(re.search(r", ([-+.e0-9]+) of the largest", text)[1]) for _, text in lines)
    moved = sum("another" in text for _, text in lines)
    text = f"{len(cases)} inputs, difference {largest:.1e} of the largest output"
    text += f", largest element elsewhere in {moved}" if moved else ", same largest element"
    return not bad, text


def networks(arguments, importer):
    folders = [p.parent for p in sorted(pathlib.Path(arguments.reference, "models").glob("*/model.onnx"))]
    failures = 0
    for folder in folders:
        if arguments.only and folder.name not in arguments.only:
            continue
        good, text = check_network(importer, folder)
        header = importer.work / (identifier(folder.name) + ".hpp")
        lines = len(header.read_text().splitlines()) if header.exists() else 0
        print(f"{'agrees' if good else 'FAILS':7} {folder.name:30} {lines:4} lines  {text}", flush=True)
        failures += not good
    return failures


def graph_of(folder):
    import onnx  # Debian: python3-onnx
    return onnx.load(str(folder / "model.onnx")).graph


def graph_inputs(folder):
    """The name of every input that the file leaves open, and whether it has real numbers."""
    graph = graph_of(folder)
    initialized = {i.name for i in graph.initializer}
    reals = {1, 10, 11, 16}  # float, half, double, bfloat16
    return [(i.name, i.type.tensor_type.elem_type in reals) for i in graph.input if i.name not in initialized]


def convert_operator(importer, folder):
    """Imports the test of an operator with as many open inputs as possible: first all with real numbers, then only the
    first one. Returns the error, and the files of the open inputs."""
    name = identifier(folder.name)
    data = folder / "test_data_set_0"
    files = stored(data, "input")
    inputs = graph_inputs(folder)
    open_inputs = [i for i, (_, real) in enumerate(inputs) if real]
    if not open_inputs:
        open_inputs = list(range(len(inputs)))
    attempts = [open_inputs, open_inputs[:1]]
    wrong = "no inputs"
    for chosen in attempts:
        fixed = [f"{n}={files[i]}" for i, (n, _) in enumerate(inputs) if i not in chosen and i < len(files)]
        more = [word for f in fixed for word in ("--fix", f)]
        wrong = importer.convert(folder / "model.onnx", name, more)
        if not wrong:
            return "", [files[i] for i in chosen]
    return wrong, []


def batches(names, size):
    return [names[i:i + size] for i in range(0, len(names), size)]


def compile_and_compare(importer, names, files, program):
    """Compiles many networks in one program. If it does not compile, tries halves, down to the network at fault."""
    wrong = importer.compile(names, program)
    if wrong and len(names) == 1:
        return {names[0]: (False, "not compiled: " + wrong)}
    if wrong:
        half = len(names) // 2
        return {**compile_and_compare(importer, names[:half], files, program + "a"),
                **compile_and_compare(importer, names[half:], files, program + "b")}
    results = {}
    for name in names:  # one at a time, so that a crash does not hide the others
        found, wrong = importer.compare(program, [{"name": name, **files[name]}],
                                        ["--absolute", "1e-5", "--of-largest", "0", "--relative", "1e-3"])
        lines = found[name]
        bad = [text for good, text in lines if not good]
        if wrong or not lines:
            results[name] = (False, wrong or "crashed")
        else:
            results[name] = (not bad, bad[0] if bad else "")
    return results


def operators(arguments, importer):
    reference = pathlib.Path(arguments.reference)
    folders = sorted(p.parent for pattern in ("onnx_node_tests/*/model.onnx", "peer_op_tests/*/*/model.onnx")
                     for p in reference.glob(pattern))
    if arguments.only:
        folders = [f for f in folders if f.name in arguments.only]
    by_name = {identifier(f.name): f for f in folders}
    results, files = {}, {}
    for name, folder in by_name.items():
        wrong, inputs = convert_operator(importer, folder)
        if wrong:
            results[name] = (False, wrong.split(":\n", 1)[-1].replace("\n", "; "))
        else:
            files[name] = {"inputs": inputs, "outputs": stored(folder / "test_data_set_0", "output")}
    for i, names in enumerate(batches(sorted(files), arguments.together)):
        results.update(compile_and_compare(importer, names, files, f"operators_{i}"))
        print(f"{sum(g for g, _ in results.values())} of {len(results)} agree", flush=True)
    table = collections.defaultdict(list)
    for name, folder in by_name.items():
        for operator in sorted({node.op_type for node in graph_of(folder).node}):
            table[operator].append(name)
    for name in sorted(results):
        good, text = results[name]
        if not good:
            print(f"FAILS {name}: {text}")
    good = sum(g for g, _ in results.values())
    print(f"{good} of {len(results)} operator tests agree ({100 * good / max(1, len(results)):.1f} %)")
    if arguments.write_docs:
        pathlib.Path(arguments.write_docs).write_text(documentation(table, results))
    return len(results) - good


def documentation(table, results):
    lines = ["# ONNX operators", "",
             "Written by `tests/import/run_reference.py operators --write-docs`. For each operator the table gives the",
             "number of single-operator tests, from ONNX and from other engines, and how many of them agree",
             "(1e-5 absolute, 1e-3 relative).", "",
             "| operator | tests | agree |", "|---|---|---|"]
    for operator in sorted(table):
        names = table[operator]
        lines.append(f"| {operator} | {len(names)} | {sum(results[n][0] for n in names)} |")
    good = sum(g for g, _ in results.values())
    lines += ["", f"In total, {good} of {len(results)} tests agree. They do not cover Einsum, which "
                  "`tests/import/einsum.py`",
              "compares with NumPy; Hardmax, Trilu, Col2Im, GridSample, GatherND, ReverseSequence, and GatherElements with",
              "computed indices, which `single_operators.py` beside it does; NegativeLogLikelihoodLoss,",
              "SoftmaxCrossEntropyLoss, RoiAlign, DeformConv, MaxUnpool, OneHot, Compress, ScatterElements, ScatterND with a",
              "reduction, TensorScatter, Mod, Div and Cast to integers, CastLike, IsInf, IsNaN, Det, GlobalLpPool, Acos, Asin",
              "and Atan, which `composed_operators.py` does; DFT, STFT, AffineGrid, CenterCropPad, CumProd and the windows,",
              "which `signals.cpp` does, and RNN, GRU and LSTM, which `recurrent.cpp` does, both by plain loops; ONNX Runtime's",
              "own operators; or an If whose condition is known: see [what the importer supports](import.md#what-it-does).", "",
              "## Tests that do not agree", ""]
    for name in sorted(results):
        if not results[name][0]:
            reason = results[name][1].replace("|", "\\|")
            lines.append(f"- `{name}`: {reason}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["networks", "operators"])
    parser.add_argument("--tools", required=True, help="a build folder")
    parser.add_argument("--reference", default=os.environ.get("AGO_REFERENCE", str(SOURCE.parent / "shared/reference")))
    parser.add_argument("--work", default="import-work", help="folder for what is generated")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="-O1 -march=native")
    parser.add_argument("--together", type=int, default=40, help="operator tests in one program")
    parser.add_argument("--write-docs")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.reference, "models").is_dir():
        print(f"skipped: there are no reference models in {arguments.reference}")
        return 0
    importer = Importer(arguments)
    return 1 if (networks if arguments.what == "networks" else operators)(arguments, importer) else 0


if __name__ == "__main__":
    sys.exit(main())
