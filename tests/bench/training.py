#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs bench/training with few repetitions: arguments, every network, agreement with PyTorch. Times are not judged.

usage: training.py <bench/training> [network]...      further networks that the program has
"""
import json
import subprocess
import sys
import unittest

PROGRAM = sys.argv[1]
BATCHES = {**{name: [1, 32] for name in ("lltm", "mi_lstm", "mlp", "sc_rnn", "sub_lstm")},
           "digits": [1, 32, 32],  # the last one with a limit of memory
           "lenet5": [1, 8, 32, 64],
           "primary_capsules": [1],
           **{name: [1, 8] if name == "mobilenet_v2" else [1] for name in sys.argv[2:]}}
OURS = {"step_ms": "step_min_ms", "inference_ms": "inference_min_ms"}
THEIRS = {"pytorch_step_ms": "pytorch_step_min_ms", "pytorch_inference_ms": "pytorch_inference_min_ms"}


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300, check=False)


def rows(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


class Training(unittest.TestCase):
    def check_times(self, row, names):
        for median, minimum in names.items():
            self.assertGreater(row[minimum], 0)
            self.assertGreaterEqual(row[median], row[minimum])

    def test_arguments(self):
        self.assertEqual(run("--help").returncode, 0)
        for words in ["--nonsense"], ["--repetitions", "0"], ["--filter", "none"], ["--profile", "--peers"]:
            done = run(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertTrue(done.stderr, words)

    def test_every_network_is_trained_and_run(self):
        done = run("--json", "--repetitions", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = rows(done)
        self.assertEqual([(r["network"], r["batch"]) for r in found],
                         [(name, batch) for name, batches in sorted(BATCHES.items()) for batch in batches])
        for r in found:
            self.check_times(r, OURS)
            self.assertGreater(r["arena_bytes"], 0)
            self.assertNotIn("pytorch_step_ms", r)
        count = {r["network"]: r["parameter_bytes"] // 4 for r in found}
        self.assertEqual(count["mlp"], 64 * 32 + 32 + 32 * 10 + 10)
        self.assertEqual(count["lenet5"], 61706)
        for r in found:
            self.assertGreater(r["peak_gflops"], 0)
            if r["network"] == "lenet5" and r["batch"] > 1:  # with one image, some products are nests
                # Three products of each layer's size, and two of the first one's.
                layers = 28 * 28 * 6 * 25, 100 * 16 * 150, 400 * 120, 120 * 84, 84 * 10
                flops = 2 * r["batch"] * (3 * sum(layers) - layers[0])
                rate = r["percent_of_peak"] / 100 * r["peak_gflops"] * 1e9
                self.assertAlmostEqual(rate * r["step_ms"] / 1e3 / flops, 1, delta=.02)

    def test_pytorch_has_the_same_losses(self):
        names = [name for name in BATCHES if name != "primary_capsules"]
        done = run("--json", "--repetitions", "1", "--peers", "--filter", "|".join(names))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = rows(done)
        self.assertEqual(len(found), sum(len(BATCHES[name]) for name in names))
        if "no PyTorch: " in done.stderr:
            self.assertIn("scripts/setup --with training", done.stderr)
            self.skipTest("there is no PyTorch")
        for r in found:
            self.check_times(r, {**OURS, **THEIRS})
            self.assertAlmostEqual(r["step_ratio"], r["pytorch_step_ms"] / r["step_ms"], delta=.02 * r["step_ratio"])

    def test_a_profile_has_every_kernel(self):
        done = run("--json", "--repetitions", "2", "--profile", "--filter", "mlp")
        self.assertEqual(done.returncode, 0, done.stderr)
        for batch in 1, 32:
            found = [r for r in rows(done) if r["batch"] == batch]
            self.assertEqual([r["step"] for r in found], list(range(len(found))))
            self.assertGreater(len(found), 4)
            self.assertAlmostEqual(sum(r["percent"] for r in found), 100, delta=1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
