#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs bench/cache on a small image: its figures exist, are consistent, and have the right magnitude.

usage: cache.py <bench/cache> <compiler>. Exit code 77: there is no valgrind.
"""
import json
import platform
import shutil
import subprocess
import sys
import unittest

SCRIPT, COMPILER = sys.argv[1:3]
WEIGHTS = 3_504_872 * 4  # bytes; an inference reads each once, and none stays in such small caches
WORDS = ["--size", "56", "--isa", "avx2", "--compiler", COMPILER]


def run(*words):
    return subprocess.run([sys.executable, "-B", SCRIPT, *words], capture_output=True, text=True, check=False)


def rows(*words):
    done = run(*WORDS, *words, "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Cache(unittest.TestCase):
    def test_help_and_nonsense(self):
        self.assertEqual(run("--help").returncode, 0)
        self.assertEqual(run("--devices", "none").returncode, 2)
        self.assertIn("no-such-compiler was not found", run("--compiler", "no-such-compiler").stderr)

    def test_steps_add_up_to_the_inference(self):
        device = ["--devices", "cortex-a55"]
        whole = {r["variant"]: r for r in rows(*device) if "variant" in r}
        accounts = rows(*device, "--steps")
        for variant in "ago", "ago-ni":
            steps = [r for r in accounts if r.get("variant") == variant and "step" in r]
            self.assertEqual([r["step"] for r in steps], list(range(len(steps))))
            for name in "bytes_beyond_l1", "bytes_beyond_l2":
                total = whole[variant][name]
                self.assertEqual(total % 64, 0)
                self.assertAlmostEqual(sum(r[name] for r in steps) / total, 1, delta=.01)
            self.assertGreater(whole[variant]["read_beyond_l2"], .95 * WEIGHTS)
            self.assertLess(whole[variant]["bytes_beyond_l2"], whole[variant]["bytes_beyond_l1"])
            self.assertAlmostEqual(whole[variant]["planned_beyond_l2"] / whole[variant]["bytes_beyond_l2"], 1, delta=.15)
        ratio = next(r for r in accounts if "ratio_beyond_l2" in r)["ratio_beyond_l2"]
        self.assertGreater(ratio, 1)


if __name__ == "__main__":
    if not shutil.which("valgrind") or platform.machine() != "x86_64":
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
