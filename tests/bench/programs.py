#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the benchmark programs with few repetitions: arguments, output formats, exit codes. Times are not checked.

usage: programs.py <networks> <kernels> <subgraphs> <policies> [<imported>, of examples/import/edges.onnx]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NETWORKS, KERNELS, SUBGRAPHS, POLICIES = sys.argv[1:5]
IMPORTED = sys.argv[5] if len(sys.argv) > 5 and sys.argv[5] else None


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)


def rows(*words):
    """The JSON lines that a program prints."""
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Arguments(unittest.TestCase):
    def test_help_is_no_error(self):
        for program in NETWORKS, KERNELS, SUBGRAPHS:
            done = run(program, "--help")
            self.assertEqual((done.returncode, done.stdout[:6]), (0, "usage:"), program)

    def test_nonsense_is_refused(self):
        everywhere = [["--nonsense"], ["word"], ["--core"], ["--core", "x"], ["--repetitions", "0"]]
        filters = [["--check", "--filter", "("], ["--check", "--filter", "no such name"]]
        cases = [(NETWORKS, [["--network", "none"], ["--size", "7"], ["--threads", "2"], ["--onnxruntime"],
                              ["--profile=none"], ["--profile", "--peers"], ["--variants", "none"],
                              ["--variants", "ago,"], ["--variants"]]),
                 (KERNELS, filters + [["--json"], ["--filter", "pool"], ["--table", "--check"], ["--benchmark_nonsense"],
                                      ["--table", "--benchmark_filter=x"], ["--benchmark_repetitions=abc"]]),
                 (SUBGRAPHS, filters)]
        for program, more in cases:
            for words in everywhere + more:
                done = run(program, *words)
                self.assertEqual(done.returncode, 2, (program, words, done.stderr))
                self.assertTrue(done.stderr, words)


class Kernels(unittest.TestCase):
    LAYER = "depthwise/7x7/960/k3s1/relu6"

    def test_google_benchmarks_flags_work(self):
        done = run(KERNELS, f"--benchmark_filter=^{self.LAYER}/", "--benchmark_min_time=0.001", "--benchmark_format=json")
        self.assertEqual(done.returncode, 0, done.stderr)
        benchmarks = json.loads(done.stdout)["benchmarks"]
        self.assertEqual(benchmarks[0]["name"], f"{self.LAYER}/ago")
        for b in benchmarks:
            self.assertTrue(b["name"].startswith(self.LAYER + "/"))
            self.assertGreater(b["GFLOP/s"], 0)
            self.assertGreater(b["%peak"], 0)
        self.assertIn("tile ", benchmarks[0]["label"])

    def test_every_layer_is_there_once_for_each_engine(self):
        names = run(KERNELS, "--benchmark_list_tests").stdout.split()
        self.assertEqual(len(names), len(set(names)))
        engines = {name.rpartition("/")[2] for name in names}
        layers = {name.rpartition("/")[0] for name in names}
        self.assertIn("ago", engines)
        self.assertEqual(len(names), len(engines) * len(layers))
        self.assertGreater(len(layers), 100)
        self.assertEqual({layer.partition("/")[0] for layer in layers},
                         {"conv2d", "depthwise", "pointwise", "linear", "max_pool", "global_avg_pool"})

    def test_a_table_has_a_row_for_each_layer(self):
        found = rows(KERNELS, "--table", "--filter", "^depthwise/7x7|^global_avg_pool/2x2", "--repetitions", "2")
        self.assertEqual([r["kernel"] for r in found][-1], "global_avg_pool/2x2/1280")
        for r in found:
            self.assertLessEqual(r["min_us"], r["median_us"])
            self.assertEqual("percent_of_peak" in r, r["kernel"].startswith("depthwise"))
            self.assertTrue(r["networks"])
        text = run(KERNELS, "--table", "--filter", "^depthwise/7x7|^global_avg_pool/2x2", "--repetitions", "2").stdout
        self.assertEqual(len(text.splitlines()), 1 + len(found))


class Subgraphs(unittest.TestCase):
    def test_every_pair_is_timed_fused_and_not(self):
        found = rows(SUBGRAPHS, "--filter", "/7x7/.*n1$", "--repetitions", "2")
        pairs = {}
        for r in found:
            pairs.setdefault((r["pair"], r["layers"]), []).append(r)
        kinds = {"depthwise+depthwise", "depthwise+pointwise", "pointwise+depthwise", "pointwise+pointwise"}
        self.assertEqual({pair for pair, _ in pairs}, kinds)
        for variants in pairs.values():
            self.assertEqual([r["variant"] for r in variants][:2], ["ago", "ago-ni"])
            self.assertEqual(variants[1]["steps"], 2)
            self.assertTrue(any(r["steps"] == 1 for r in variants), variants)
            for r in variants:
                self.assertLessEqual(r["difference"], 1e-5)
                self.assertEqual("ratio" in r, r["variant"] != "ago")
                self.assertLessEqual(r["arena_bytes"], variants[1]["arena_bytes"], r)
                self.assertEqual(r["tiling"] == "none", r["steps"] == 2, r)


class Networks(unittest.TestCase):
    def test_all_variants_and_engines_are_reported(self):
        found = rows(NETWORKS, "--network", "mobilenet_v2", "--size", "56", "--peers", "--repetitions", "2")
        self.assertEqual([r["variant"] for r in found][:2], ["ago", "ago-ni"])
        for r in found:
            self.assertLess(r["difference"], 1e-4)

    def test_its_table_fits_100_columns(self):
        printed = run(NETWORKS, "--network", "mobilenet_v2", "--size", "56", "--peers", "--repetitions", "2").stdout
        lines = printed.splitlines()
        self.assertGreaterEqual(len(lines), 3 + 2)
        self.assertLessEqual(max(map(len, lines)), 100, printed)
        self.assertEqual(lines[2].split()[:3], ["network", "size", "variant"])

    def test_the_six_networks_are_there(self):
        known = re.findall(r"--network (\w+) --size (\d+)", run(NETWORKS, "--network", "none").stderr)
        images = [(name, size) for name in ("mnasnet", "mobilenet_v2", "shufflenet_v2", "squeezenet")
                  for size in ("224", "112", "56")]
        self.assertEqual(set(known), {*images, ("bert_tiny", "128"), ("mobilevit_s", "256"), ("mobilevit_s", "224")})

    def test_variants_are_chosen_and_the_first_is_compared_with(self):
        word = ["--network", "bert_tiny", "--repetitions", "2"]
        self.assertEqual([r["variant"] for r in rows(NETWORKS, *word, "--variants", "ago-ni")], ["ago-ni"])
        found = rows(NETWORKS, *word, "--variants", "ago-ni,ago")
        self.assertEqual([(r["variant"], "ratio" in r) for r in found], [("ago-ni", False), ("ago", True)])

    def test_every_policy_computes_the_same(self):
        found = rows(POLICIES, "--repetitions", "2", "--network", "shufflenet_v2", "--size", "56")
        self.assertEqual([r["variant"] for r in found],
                         ["ago", "ago-ni", "paper", "paper-adjacent", "fuse-ops", "apollo"])
        for r in found:
            self.assertLess(r["difference"], 1e-4)
        known = re.findall(r"--network (\w+) --size (\d+)", run(POLICIES, "--network", "none").stderr)
        self.assertEqual(known, re.findall(r"--network (\w+) --size (\d+)", run(NETWORKS, "--network", "none").stderr))

    def test_engines_that_lack_something_are_left_out_with_a_reason(self):
        with tempfile.TemporaryDirectory() as nothing:
            done = run(NETWORKS, "--network", "bert_tiny", "--onnxruntime", nothing, "--json", "--repetitions", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([json.loads(line)["variant"] for line in done.stdout.splitlines()], ["ago", "ago-ni"])
        self.assertEqual(len(re.findall("^no onnxruntime: .*scripts/setup", done.stderr, re.MULTILINE)), 1, done.stderr)

    def test_a_profile_has_every_step(self):
        word = ["--network", "shufflenet_v2", "--size", "56", "--repetitions", "2"]
        whole = {r["variant"]: r for r in rows(NETWORKS, *word)}
        for variant in "ago", "ago-ni":
            found = rows(NETWORKS, *word, f"--profile={variant}")
            self.assertEqual([r["step"] for r in found], [*map(str, range(whole[variant]["steps"])), "all"])
            self.assertAlmostEqual(sum(r["percent"] for r in found[:-1]), 100, delta=5)
            self.assertTrue(all(r["kbytes"] > 0 for r in found))
            self.assertIn("gflops", found[0])
            self.assertNotIn("gflops", found[1], "a max pooling multiplies nothing")


class OnnxRuntime(unittest.TestCase):
    """A fake package of that name, controlled by the test, and a python3 that writes no model."""
    PACKAGE = """
        const value = Number(process.env.FAKE_VALUE), shape = JSON.parse(process.env.FAKE_SHAPE);
        class Tensor { constructor(type, data, dims) { this.data = data; this.dims = dims; } }
        const session = {
          inputMetadata: [{name: 'in', shape}], outputMetadata: [{name: 'out', shape}],
          async run(feeds, fetches) {
            if (value === 1) throw new Error('out of luck');
            if (value === 2) process.exit(7);
            fetches.out.data.fill(value);
          }};
        exports.Tensor = Tensor;
        exports.InferenceSession = { create: async () => session };
    """

    def answer(self, value, python="exit 0", program=(NETWORKS, "--network", "bert_tiny"), shape="[1, 128, 128]"):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "node_modules" / "onnxruntime-node"
            package.mkdir(parents=True)
            (package / "package.json").write_text('{"version": "1.2.3", "main": "index.js"}')
            (package / "index.js").write_text(self.PACKAGE)
            fake = pathlib.Path(folder) / "python3"
            fake.write_text("#!/bin/sh\n" + python + "\n")
            fake.chmod(0o755)
            where = {**os.environ, "FAKE_VALUE": str(value), "FAKE_SHAPE": shape,
                     "PATH": folder + os.pathsep + os.environ["PATH"]}
            done = subprocess.run([*program, "--onnxruntime", folder, "--repetitions", "2", "--json"],
                                  capture_output=True, text=True, timeout=300, check=False, env=where)
        return done.returncode, done.stderr, [json.loads(line) for line in done.stdout.splitlines()]

    def setUp(self):
        if not shutil.which("node"):
            self.skipTest("there is no node")

    def test_its_wrong_results_are_found(self):
        status, said, found = self.answer(0)
        self.assertEqual(status, 1)
        self.assertIn("onnxruntime (1.2.3) and ago do not agree", said)
        self.assertEqual(found[-1]["choice"], "1.2.3")
        self.assertGreater(found[-1]["median_ms"], 0)

    def test_its_failure_is_no_result(self):
        for value, why in (1, "node failed: out of luck"), (2, "node ended with status 7 instead of an answer to 'run'"):
            status, said, found = self.answer(value)
            self.assertEqual((status, found), (1, []))
            self.assertIn("networks: " + why, said)

    def test_a_model_that_cannot_be_written_is_a_failure(self):
        status, said, found = self.answer(0, "[ $# = 3 ] || { echo no such operator >&2; exit 1; }")
        self.assertEqual((status, found), (1, []))
        self.assertIn("PyTorch could not write bert_tiny as ONNX: no such operator", said)

    @unittest.skipUnless(IMPORTED, "the ONNX importer is not built")
    def test_its_wrong_results_for_an_imported_model_are_found(self):
        status, said, found = self.answer(0, program=(IMPORTED,), shape="[1, 1, 24, 48]")
        self.assertEqual((status, [r["variant"] for r in found]), (1, ["ago", "onnxruntime"]))
        self.assertIn("edges: onnxruntime (1.2.3) and ago do not agree", said)
        status, said, found = self.answer(0, program=(IMPORTED,), shape="[1, 1, 24, 47]")
        self.assertEqual((status, found), (1, []))
        self.assertIn("1152 floats for inputs of 1128", said)


@unittest.skipUnless(IMPORTED, "the ONNX importer is not built")
class Imported(unittest.TestCase):
    def test_all_engines_are_reported(self):
        found = rows(IMPORTED, "--repetitions", "2")
        self.assertEqual((found[0]["network"], found[0]["variant"]), ("edges", "ago"))
        self.assertEqual(found[0]["multiply_adds"], 24 * 48 * 9 * 2)
        for r in found:
            self.assertLess(r["difference"], 1e-4)

    def test_nonsense_is_refused(self):
        for words in ["--nonsense"], ["word"], ["--repetitions", "0"], ["--filter", "no such name"], ["--filter", "("]:
            done = run(IMPORTED, *words)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertTrue(done.stderr, words)

    def test_without_the_other_engine_a_reason_is_given(self):
        with tempfile.TemporaryDirectory() as nothing:
            done = run(IMPORTED, "--onnxruntime", nothing, "--json", "--repetitions", "2")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 1), done.stderr)
        self.assertRegex(done.stderr, "(?m)^no onnxruntime: .*scripts/setup")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
