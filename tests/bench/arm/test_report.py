#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the figures and tables of bench/arm with invented counts."""
import pathlib
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench" / "arm"))
import importlib.util  # noqa: E402

import ruler  # noqa: E402

spec = importlib.util.spec_from_file_location("arm_report", ROOT / "bench" / "arm" / "report.py")
report = importlib.util.module_from_spec(spec)
spec.loader.exec_module(report)

COUNTS = {"multiply_adds": 1000, "half_multiply_adds": 4, "scalar_multiply_adds": 8, "loaded_bytes": 1 << 20,
          "in_order_cycles": 2_000_000, "out_of_order_cycles": 1_200_000}


def counts(l1=0, l1_foreseen=0, l2=0, l2_foreseen=0, far=0):
    both = {f"{core}_{name}": value for core in ruler.CORES for name, value in
            {"l1": l1, "l1_foreseen": l1_foreseen, "l2": l2, "l2_foreseen": l2_foreseen, "far": far}.items()}
    return {"step": 0, **COUNTS, **both}


def of(c, blocks=(), **step):
    return ruler.Report([{**c, **step}], list(blocks), pathlib.Path("program"), pathlib.Path("results"))


def needing(*macs, bytes=0, operations=0):
    """A report on steps that execute 1004 multiply-adds of four floats each."""
    steps = [{**counts(), "macs": n} for n in macs]
    return ruler.Report(steps, [], pathlib.Path("program"), pathlib.Path("results"), bytes, operations)


class Milliseconds(unittest.TestCase):
    def test_without_misses_they_are_those_of_the_core(self):
        self.assertEqual(ruler.milliseconds(counts(), "a55"), (1.0, 1.0))
        self.assertEqual(ruler.milliseconds(counts(), "a76"), (.5, .5))

    def test_the_lower_figure_takes_every_miss_for_foreseen(self):
        c = ruler.CORES["a55"]
        least, most = ruler.cycles(counts(100, 60, 10, 5, 10), "a55")
        self.assertEqual(least, 2e6 + 100 * c.l1_foreseen + 10 * c.l2_foreseen)
        self.assertEqual(most, 2e6 + 60 * c.l1_foreseen + 40 * c.l1 + 5 * c.l2_foreseen + 5 * c.l2)

    def test_lines_in_l3_cost_a_share(self):
        c = ruler.CORES["a76"]
        least, _ = ruler.cycles(counts(10, 10, 10, 10, 5), "a76")
        self.assertAlmostEqual(least, 1.2e6 + 10 * c.l1_foreseen + 10 * c.l2_foreseen * (.5 + .5 * c.l3_share))

    def test_multiply_adds_are_of_four_floats(self):
        self.assertEqual(ruler.multiply_adds(COUNTS), 1004)


class Floor(unittest.TestCase):
    def test_of_each_step_the_direct_or_the_executed_multiply_adds_count_whichever_are_fewer(self):
        report = needing(4 * 500, 4 * 2000, 0)
        self.assertAlmostEqual(ruler.floor(report, "a55")[0], 1504 / 2.0e6)
        self.assertAlmostEqual(ruler.floor(report, "a76")[0], 752 / 2.4e6)

    def test_what_fits_the_caches_costs_nothing(self):
        self.assertEqual(ruler.floor(needing(bytes=32 << 10), "a55"), (0, 0, 0))

    def test_operations_of_four_floats_take_the_pipes_of_multiply_adds(self):
        report = needing(operations=4 * 600)
        self.assertAlmostEqual(ruler.floor(report, "a55")[1], 600 / 2.0e6)
        self.assertAlmostEqual(ruler.floor(report, "a76")[1], 300 / 2.4e6)

    def test_lines_come_from_beyond_each_cache_that_they_exceed(self):
        beyond_l1, beyond_l2 = (128 << 10) // 64 + 10, 10
        *_, misses = ruler.floor(needing(bytes=(160 << 10) + 640), "a55")
        self.assertAlmostEqual(misses, (beyond_l1 * 4 + beyond_l2 * 20) / 2.0e6)

    def test_lines_that_l3_holds_cost_a_share(self):
        far, in_l3, in_l2 = 3, (2048 << 10) // 64, (512 << 10) // 64
        *_, misses = ruler.floor(needing(bytes=(2624 << 10) + 3 * 64), "a76")
        self.assertAlmostEqual(misses, (far + in_l3 + in_l2 + (far + in_l3 * .4) * 16) / 2.4e6)


class Symbols(unittest.TestCase):
    def test_kernels_are_told_by_name_and_tile(self):
        key = "<ago::plan::kernel_key{(ago::plan::structure)0, (ago::isa)5, ago::plan::register_tile{%s}, false}>(float*)"
        self.assertEqual(ruler.kernel_of("void ago::kernel::pointwise_kernel" + key % "7, 3"), ruler.Kernel("pointwise", "7x3"))
        self.assertEqual(ruler.kernel_of("void ago::kernel::pointwise_kernel" + key % "1, 16, 0, 10"), ruler.Kernel("one pixel", "1x16"))
        self.assertEqual(ruler.kernel_of("ago::kernel::depthwise_in_order" + key % "7, 2").kind, "depthwise")
        self.assertEqual(ruler.kernel_of("ago::kernel::transform_inputs(float*)").kind, "Winograd, inputs")
        self.assertEqual(ruler.kernel_of("void ago::kernel::winograd_kernel" + key % "4, 4"), ruler.Kernel("Winograd", "4x4"))
        self.assertEqual(ruler.kernel_of("void ago::kernel::winograd_kernel" + key % "4, 4" + ">::finish_outputs<2>()").kind,
                         "Winograd, outputs")
        self.assertEqual(ruler.kernel_of("memcpy"), ruler.Kernel("others", ""))


class Tables(unittest.TestCase):
    def setUp(self):
        fast, slow = counts(), {**counts(), "in_order_cycles": 4_000_000, "out_of_order_cycles": 2_400_000}
        self.measured = types.SimpleNamespace(
            subjects=[("mobilenet_v2", 224)], cores=["a55", "a76"], options=types.SimpleNamespace(device=False, peers_from=None),
            ago=lambda network, size, device="default", policy="ago": of(fast if policy == "ago" else slow),
            peer=lambda engine, network, size, core: of(slow) if engine == "ncnn" else None)

    def test_networks_are_compared_with_the_better_engine(self):
        lines = report.networks_report(self.measured).splitlines()
        self.assertEqual(lines[2], "| mobilenet_v2 | 224 | A55 | 1.0 (1.0 ... 1.0) | 1.0 (1.0 ... 1.0) | 2.0 (2.0 ... 2.0) | | 2.00 | 2.00 |")
        self.assertEqual(lines[-1], "Geometric means of the last column: A55 at 224: 2.00, A76 at 224: 2.00.")

    def test_without_other_engines_their_columns_are_empty(self):
        self.measured.peer = lambda *_: None
        lines = report.networks_report(self.measured).splitlines()
        self.assertTrue(lines[2].endswith("| | | | |"), lines[2])
        self.assertEqual(len(lines), 4)

    def test_floors_and_goals(self):
        self.measured.ago = lambda *_: ruler.Report([{**counts(), "multiply_adds": 1_000_000, "macs": 4_000_000}], [], None, None)
        rows = report.floors_report(self.measured).splitlines()[2:]
        self.assertEqual(rows[0], "| mobilenet_v2 | 224 | A55 | 0.50 | 0.00 | 0.00 | 0.50 | 1.30 | yes | 1.00 | 2.00 | 0.77 |")
        self.measured.peer = lambda engine, *_: of({**counts(), "in_order_cycles": 1_500_000, "out_of_order_cycles": 1_500_000})
        rows = report.floors_report(self.measured).splitlines()[2:]
        self.assertEqual(rows[0], "| mobilenet_v2 | 224 | A55 | 0.50 | 0.00 | 0.00 | 0.50 | 0.49 | no | 1.00 | 2.00 | 2.05 |")
        self.measured.subjects = [("bert_tiny", 128)]
        rows = report.floors_report(self.measured).splitlines()[2:]
        self.assertEqual(rows[0], "| bert_tiny | 128 | A55 | 0.50 | 0.00 | 0.00 | 0.50 | | | 1.00 | 2.00 | |")

    def test_fusion(self):
        text = report.fusion_report(self.measured)
        self.assertIn("| mobilenet_v2 | 224 | A76 | 0.5 (0.5 ... 0.5) | 1.0 (1.0 ... 1.0) | 2.00 | 0.0 | 0.0 |", text)

    def test_memory_has_a_row_for_each_engine_that_ran(self):
        self.assertEqual(len(report.memory_report(self.measured).splitlines()), 2 + 2 * 2)

    def test_a_page_keeps_other_engines(self):
        c = {**counts(), "macs": 4000}
        self.measured.ago = lambda *_: of(c)
        tables = {name: report.REPORTS[name](self.measured) for name in ("networks", "floors", "memory")}
        with tempfile.TemporaryDirectory() as folder:
            page = self.measured.options.peers_from = pathlib.Path(folder) / "page.md"
            page.write_text("".join(f"<!-- report: arm-{name} -->\n{text}\n<!-- /report -->\n" for name, text in tables.items()),
                            encoding="utf-8")
            self.measured.peer = None
            for name, text in tables.items():
                self.assertEqual(report.REPORTS[name](self.measured), text)

    def test_losses_add_up(self):
        c = {**counts(l1=1000, l1_foreseen=400, l2=100, l2_foreseen=50, far=50), "out_of_order_cycles": 2_000_000}
        for core in ruler.CORES:
            self.assertAlmostEqual(sum(ruler.losses(c, core)), ruler.middle(ruler.milliseconds(c, core)))
        self.assertAlmostEqual(ruler.losses(c, "a76")[0], 502 / 2.4e6)
        self.measured.ago = lambda *_: ruler.Report([{**c, "kernel": "pointwise"}, {**c, "kernel": "pooling"}], [], None, None)
        rows = report.losses_report(self.measured).splitlines()
        self.assertEqual([row.split(" | ")[3] for row in rows[2:5]], ["all", "pointwise", "pooling"])

    def test_steps(self):
        c = counts(l1=64, l1_foreseen=48)
        self.measured.ago = lambda *_: of(c, kernel="pointwise", layers="1x1x4 > 1x1x4")
        text = report.steps_report(self.measured)
        self.assertIn("| 0 | pointwise | 1x1x4 > 1x1x4 | 0.001 | 1992.03 |", text)
        self.assertIn("| 4 | 25 | 0 |", text)


if __name__ == "__main__":
    unittest.main()
