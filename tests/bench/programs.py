#!/usr/bin/env python3
"""Runs the benchmark programs with few repetitions: arguments, forms of output, exit codes. Times are not judged.

usage: programs.py <networks> <kernels> <subgraphs>
"""
import json
import subprocess
import sys
import unittest

NETWORKS, KERNELS, SUBGRAPHS = sys.argv[1:4]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)


def rows(*words):
    """What a program writes as JSON lines."""
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
        cases = [(NETWORKS, [["--network", "none"], ["--size", "7"], ["--threads", "2"]]),
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
