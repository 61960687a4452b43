#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the tables of bench/report.py with invented figures."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import report  # noqa: E402


def kernel(name, median, **more):
    return {"kernel": name, "median_us": median, "min_us": median / 2, "gbytes_per_s": 1, "networks": "net 224 a", **more}


class Kernels(unittest.TestCase):
    ROWS = [kernel("pointwise/1x1/4>4", 1, gflops=10, percent_of_peak=20, onednn=2, onednn_min=4, tile="1x1"),
            kernel("pointwise/2x2/4>4", 4, gflops=10, percent_of_peak=80, onednn=0.5, onednn_min=1, tile="4x1"),
            kernel("conv2d/2x2/4>4/k3s1", 4, gflops=5, percent_of_peak=40, onednn=0.9, onednn_min=0.8),
            kernel("max_pool/2x2/4/k3s2", 4, onednn=1.5, onednn_min=1.5)]

    def test_summary_has_geometric_means(self):
        lines = report.kernel_summary(self.ROWS).splitlines()
        self.assertEqual(lines[0], "| kind | layers | % of peak | oneDNN / ago, median | oneDNN / ago, minimum |")
        self.assertEqual(lines[3], "| pointwise | 2 | 40 (20 ... 80) | 1.00 (0.50 ... 2.00) | 2.00 (1.00 ... 4.00) |")
        self.assertTrue(lines[4].startswith("| max_pool | 1 | | 1.50"))

    def test_rows_are_those_of_the_network(self):
        rows = self.ROWS + [kernel("pointwise/9x9/4>4", 1, gflops=1, percent_of_peak=1, networks="other 224 a")]
        lines = report.kernel_rows(rows, "net 224").splitlines()
        self.assertEqual(len(lines), 2 + 4)
        self.assertEqual(lines[2], "| `pointwise/1x1/4>4` | 1x1 | 1.00 (0.50) | 10 | 20 | 2.00 (4.00) |")

    def test_slower_means_by_median_and_by_minimum(self):
        text = report.slower_rows(self.ROWS)
        self.assertIn("conv2d/2x2", text)
        self.assertEqual(len(text.splitlines()), 3)


def imported(network, variant, median, **more):
    return {"network": network, "variant": variant, "multiply_adds": 2500000, "median_ms": median, "min_ms": median / 2,
            "percent_of_peak": 30, "difference": 1e-6, **more}


class Imported(unittest.TestCase):
    AGO = {"steps": 3, "arena_bytes": 2048}
    ROWS = [imported("a", "ago", 1, **AGO), imported("a", "onnxruntime", 2, ratio=2, ratio_min=8),
            imported("b", "ago", 4, **AGO), imported("b", "onnxruntime", 2, ratio=.5, ratio_min=.5),
            imported("c", "ago", .01, **AGO), imported("c", "onnxruntime", .09, ratio=9, ratio_min=9)]

    def test_a_row_for_each_network_and_who_is_slower(self):
        text = report.imported_report(self.ROWS)
        self.assertIn("| a | 2.5 | 1.000 (0.500) | 30 | 30 | 2.00 (8.00) | 1e-06 | 3 | 2 |", text)
        self.assertIn("| c | 2.5 | 0.0100 (0.0050) | 30 | 30 | 9.00 (9.00) |", text)
        self.assertIn("of the 2 networks that take it at least 0.1 ms:\n1.00 (0.50 ... 2.00) by median, 2.00 (0.50 ... 8.00) by", text)
        self.assertTrue(text.endswith("minimum: b: 0.50 (0.50)."))

    def test_without_the_other_engine(self):
        text = report.imported_report(self.ROWS[::2])
        self.assertIn("| b | 2.5 | 4.000 (2.000) | 30 | | | | 3 | 2 |", text)
        self.assertNotIn("geometric", text)


def pair(variant, images, median, steps, arena, **more):
    return {"pair": "a+b", "images": images, "size": 7, "layers": "1>2", "variant": variant, "median_us": median,
            "min_us": median, "percent_of_peak": 50, "arena_bytes": arena, "steps": steps,
            "tiling": "rows" if steps == 1 else "none", **more}


class Subgraphs(unittest.TestCase):
    ROWS = [pair("ago", 1, 10, 2, 2048), pair("ago-ni", 1, 10, 2, 2048, ratio=1, ratio_min=1),
            pair("rows", 1, 20, 1, 1024, ratio=.5, ratio_min=1.1),
            pair("ago", 4, 20, 1, 1024), pair("ago-ni", 4, 40, 2, 8192, ratio=.9, ratio_min=.8)]

    def test_summary_counts_what_the_default_fuses(self):
        lines = report.subgraph_summary(self.ROWS).splitlines()
        self.assertEqual(lines[2], "| a+b | 1 | 1 | 0 | | | 50 |")
        self.assertEqual(lines[3], "| a+b | 4 | 1 | 1 | 2.00 (2.00 ... 2.00) | 2.00 (2.00 ... 2.00) | 50 |")

    def test_rows_say_what_is_not_fused_and_what_force_does(self):
        lines = report.subgraph_rows(self.ROWS).splitlines()
        self.assertEqual(lines[4], "| 7 | `1>2` | 1 | 10.0 (10.0) | 50 | not fused | 0.50 (0.50) | 2 | 2 |")
        self.assertEqual(lines[5], "| 7 | `1>2` | 4 | 40.0 (40.0) | 50 | 2.00 (2.00) rows | | 1 | 8 |")

    def test_missed_means_by_median_and_by_minimum(self):
        lines = report.missed_rows(self.ROWS).splitlines()
        self.assertEqual(lines[2:], ["| a+b | 7 | `1>2` | 4 | none | 0.90 (0.80) |"])


def network(name, variant, median, **more):
    return {"network": name, "size": 7, "variant": variant, "median_ms": median, "min_ms": median / 2,
            "percent_of_peak": 50.4, **more}


class Networks(unittest.TestCase):
    ROWS = [network("a", "ago", 1, arena_bytes=2048), network("a", "ago-ni", 2, ratio=2, ratio_min=1.5, arena_bytes=4096),
            network("a", "xnnpack", 4, ratio=4, ratio_min=3), network("a", "onnxruntime", 2, ratio=2, ratio_min=6),
            network("b", "ago", 1, arena_bytes=1024), network("b", "ago-ni", 1, ratio=1, ratio_min=1, arena_bytes=1024),
            network("b", "onnxruntime", 8, ratio=8, ratio_min=12)]
    ALONE = [network("a", "ago", .5), network("b", "ago", .25)]

    def test_engines_that_do_not_take_part_have_an_empty_cell_or_no_column(self):
        lines = report.networks_report(self.ROWS, self.ALONE).splitlines()
        self.assertEqual(lines[0], "| network | size | ago, ms (least) | % of peak | alone | % of peak | ago-ni / ago "
                                   "| XNNPACK / ago | ONNX Runtime / ago | arena KB | ago-ni's |")
        self.assertEqual(lines[2], "| a | 7 | 1.000 (0.500) | 50 | 0.500 (0.250) | 50 | 2.00 (1.50) | 4.00 (3.00) | 2.00 (6.00) | 2 | 4 |")
        self.assertEqual(lines[3], "| b | 7 | 1.000 (0.500) | 50 | 0.250 (0.125) | 50 | 1.00 (1.00) | | 8.00 (12.00) | 1 | 1 |")

    def test_the_fastest_of_the_others_counts(self):
        self.assertIn("of 2 rows: 4.00 (2.00 ... 8.00) by\nmedian, 6.00 (3.00 ... 12.00) by minimum",
                      report.networks_report(self.ROWS, self.ALONE))

    def test_without_other_engines_there_is_only_a_table(self):
        lines = report.networks_report([r for r in self.ROWS if r["variant"].startswith("ago")], self.ALONE).splitlines()
        self.assertEqual(len(lines), 4)
        self.assertNotIn("Runtime", lines[0])

    def test_kept_figures_give_the_same_table(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "machine.json"
            path.write_text('{"machine": "a board", "rows": []}')
            report.save(path, {"circumstances": "quiet", "rows": self.ROWS, "alone": self.ALONE})
            kept = json.loads(path.read_text())
        self.assertEqual(kept["machine"], "a board")
        self.assertEqual(report.networks_text(kept), "quiet.\n\n" + report.networks_report(self.ROWS, self.ALONE))


class Policies(unittest.TestCase):
    ROWS = [network("a", "ago", 2), network("a", "fuse-ops", 4, ratio=2, ratio_min=1.5),
            network("a", "apollo", 1.9, ratio=.95, ratio_min=.97),
            network("b", "ago", 1), network("b", "fuse-ops", 8, ratio=8, ratio_min=8),
            network("b", "apollo", 1, ratio=.9, ratio_min=.99)]

    def test_every_policy_has_a_column_and_the_last_row_its_gain_over_fuse_ops(self):
        lines = report.policies_report(self.ROWS).splitlines()
        self.assertEqual(lines[0], "| network | size | ago, ms (least) | fuse-ops / ago | apollo / ago |")
        self.assertEqual(lines[2], "| a | 7 | 2.000 (1.000) | 2.00 (1.50) | 0.95 (0.97) |")
        self.assertEqual(lines[4], "| fuse-ops / each | | 4.00 (4.00) | 1.00 (1.00) | 4.10 (4.10) |")

    def test_a_faster_policy_is_one_by_median_and_by_minimum(self):
        self.assertTrue(report.policies_report(self.ROWS).endswith("minimum: apollo on a at 7: 0.95 (0.97)."))
        self.assertTrue(report.policies_report(self.ROWS[:2]).endswith("minimum: none."))

    def test_without_fuse_ops_there_is_no_last_row(self):
        rows = [r for r in self.ROWS if r["variant"] != "fuse-ops"]
        self.assertNotIn("fuse-ops", report.policies_report(rows).split("The last row")[0])


def step(kernel, layers, median, percent=None):
    """A row of a profile on a machine with a peak of 100 GFLOP/s."""
    rate = {} if percent is None else {"gflops": percent, "percent_of_peak": percent}
    return {"network": "a", "size": 7, "kernel": kernel, "layers": layers, "median_us": median, "again_us": median * .75, **rate}


class Losses(unittest.TestCase):
    def test_what_steps_take_beyond_the_peak_adds_up(self):
        rows = [step("rows: pointwise, depthwise", "2x2x3 > 2x2x8 > 2x2x8", 40, 75), step("pointwise", "5x5x4 > 5x5x4", 20, 80),
                step("pointwise", "4x4x4 > 4x4x4", 10, 50), step("pointwise", "1x1x4 > 1x1x4", 10, 10),
                step("winograd 4x4", "9x9x4 > 9x9x4", 10, 150), step("depthwise", "4x4x4 > 2x2x4", 4, 50),
                step("softmax", "1x1x4 > 1x1x4", 6), step("sum", "", 100, 69)]
        lines = report.losses_report(rows + [dict(r, network="b") for r in rows]).splitlines()
        self.assertEqual(lines[0], "| network | size | ms | % of peak | again | " + " | ".join(report.LOSERS) + " |")
        self.assertEqual(lines[2], "| a | 7 | 0.100 | 69 | 92 | 10.0 | 4.0 | 5.0 | 9.0 | -5.0 | 2.0 | 6.0 |")
        self.assertEqual(lines[3], lines[2].replace("a", "b"))
        self.assertAlmostEqual(69 + 10 + 4 + 5 + 9 - 5 + 2 + 6, 100)


class Predictions(unittest.TestCase):
    def rows(self, network, pairs):
        return [{"network": network, "size": 7, "step": str(k), "median_us": m, "predicted_us": p}
                for k, (m, p) in enumerate(pairs)] + [{"network": network, "size": 7, "step": "all", "median_us": 1e9}]

    def test_errors_are_of_steps_and_sums_of_networks(self):
        rows = self.rows("a", [(100, 90), (200, 300), (10, 10)]) + self.rows("b", [(1000, 1300)])
        lines = report.table(*report.predictions.of(rows)).splitlines()
        self.assertEqual(lines[2], "| a | 7 | 3 | 0.310 | 0.400 | 10 | 50 | 1.000 |")
        self.assertEqual(lines[3], "| b | 7 | 1 | 1.000 | 1.300 | 30 | 30 | |")
        self.assertEqual(lines[4], "| all | | 4 | 1.310 | 1.700 | 30 | 50 | 1.000 |")

    def test_rank_correlation(self):
        self.assertAlmostEqual(report.predictions.rank_correlation([1, 2, 3, 4], [10, 20, 30, 40]), 1)
        self.assertAlmostEqual(report.predictions.rank_correlation([1, 2, 3, 4], [9, 7, 5, 3]), -1)
        self.assertAlmostEqual(report.predictions.rank_correlation([1, 2, 3], [1, 3, 2]), .5)
        self.assertAlmostEqual(report.predictions.rank_correlation([1, 1, 2], [1, 2, 3]), 3 ** .5 / 2)


class Page(unittest.TestCase):
    PAGE = "a\n<!-- report: kernels -->\nold\nlines\n<!-- /report -->\nb\n<!-- report: subgraphs -->\n<!-- /report -->\n"

    def test_only_its_own_place_is_replaced(self):
        page = report.replace(self.PAGE, "kernels", "new \\1 text")
        self.assertEqual(page, self.PAGE.replace("old\nlines", "new \\1 text"))
        self.assertEqual(report.replace(page, "kernels", "old\nlines"), self.PAGE)

    def test_a_page_without_a_place_is_refused(self):
        with self.assertRaises(ValueError):
            report.replace("text", "kernels", "new")


if __name__ == "__main__":
    unittest.main()
