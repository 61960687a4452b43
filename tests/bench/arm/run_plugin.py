#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program with known counts on qemu-aarch64 with the plugin. Exit code 77: QEMU or a compiler is missing."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench" / "arm"))
import ruler  # noqa: E402

TURNS = 1000
PROGRAM = f"""
#include "{ruler.HERE}/mark.hpp"
#include <cstdio>
alignas(64) static float data[2 * {TURNS} * 4 + 4096];
// Four multiply-adds, a load and a prefetch in each turn.
static void loop(float const* from) {{
  long turns = {TURNS};
  asm volatile("1: ldr q16, [%0], #16\\n prfm pldl1keep, [%0, #1024]\\n"
               "fmla v0.4s, v17.4s, v18.s[0]\\n fmla v1.4s, v17.4s, v18.s[1]\\n"
               "fmla v2.4s, v17.4s, v18.4s\\n fmla v3.4s, v17.4s, v18.4s\\n"
               "subs %1, %1, #1\\n b.ne 1b"
               : "+r"(from), "+r"(turns) : : "v0", "v1", "v2", "v3", "v16", "v17", "v18", "cc", "memory");
}}
int main(int count, char** words) {{
  if (count > 2) return 77;
  for (float& x : data) x = 1;
  ruler::warm_up();
  loop(data);
  ruler::begin_step(0);
  loop(data);
  ruler::begin_step(1);
  loop(data + {TURNS} * 4);
  ruler::end_of_steps();
  std::printf("{{\\"bytes\\": 640}}\\n{{\\"macs\\": 1}}\\n{{\\"macs\\": 2}}\\n");
}}
"""


class Plugin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        (folder / "program.cpp").write_text(PROGRAM, encoding="utf-8")
        ruler.checked(["aarch64-linux-gnu-g++", "-std=c++20", "-O1", "-static", "-o", folder / "program", folder / "program.cpp"])
        cls.path = folder
        cls.report = ruler.run(folder / "program", folder=folder)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_counts_are_exact(self):
        self.assertEqual([step["step"] for step in self.report.steps], [0, 1])
        for step in self.report.steps:
            self.assertEqual(step["multiply_adds"], 4 * TURNS)
            self.assertEqual(step["vector_loads"], TURNS)
            self.assertEqual(step["prefetches"], TURNS)
            self.assertEqual(step["known_prefetches"], TURNS)
            self.assertEqual(step["loaded_bytes"] // 16, TURNS)
            self.assertLess(abs(step["instructions"] - 8 * TURNS), 100)

    def test_what_the_program_prints_belongs_to_the_network_and_to_its_steps(self):
        self.assertEqual(self.report.bytes, 640)
        self.assertEqual([step["macs"] for step in self.report.steps], [1, 2])

    def test_caches_are_warm_where_they_should_be(self):
        warm, cold = self.report.steps
        lines = TURNS * 16 // 64
        for core in ruler.CORES:
            self.assertLessEqual(warm[f"{core}_l1"], 10)
            self.assertLess(abs(cold[f"{core}_l1"] - lines), 10)  # 16 of them were asked for before
            self.assertLess(cold[f"{core}_l1"] - cold[f"{core}_l1_foreseen"], 5)

    def test_cycles_of_the_loop(self):
        """In order: two for the load, one each for the prefetch, the multiply-adds, the last beside the subtraction, and the
        branch. Out of order: eight instructions, four a cycle."""
        for step in self.report.steps:
            self.assertAlmostEqual(step["in_order_cycles"] / TURNS, 8, delta=.2)
            self.assertAlmostEqual(step["out_of_order_cycles"] / TURNS, 2, delta=.2)
        block = max(self.report.blocks, key=lambda b: b[4])
        self.assertEqual(block[2:4], [8, 16])
        self.assertGreaterEqual(block[1], 2 * (TURNS - 1))

    def test_a_program_that_refuses_is_no_report(self):
        self.assertIsNone(ruler.run(self.path / "program", ["no"], folder=self.path))

    def test_without_marks_nothing_is_written(self):
        out = self.path / "none.json"
        done = subprocess.run([ruler.QEMU, "-plugin", f"{ruler.plugin(self.path)},out={out}", self.path / "program", "a", "b"],
                              capture_output=True, text=True, check=False)
        self.assertIn("placed no marks", done.stderr)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    why = ruler.missing()
    if why:
        print(why)
        sys.exit(77)
    unittest.main()
