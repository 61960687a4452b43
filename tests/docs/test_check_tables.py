#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that check_tables.py finds differences."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_tables import faults  # noqa: E402

TABLE = "| a | b |\n|---|---|\n| x | 1.5 |\n"
TIMED = ("| n | groups | a | b | c | d | e | f | g |\n|---|---|---|---|---|---|---|---|---|\n"
         "| 10 | 3 | 0.1 | 0.2 | 1 | 2 | 3 | 4 | 5 |\n")


def page(name, table):
    return f"text\n<!-- partitions: {name} -->\n{table}<!-- /partitions -->\nmore\n"


class Tables(unittest.TestCase):
    def test_equal_tables_have_no_faults(self):
        self.assertEqual(faults(page("traffic", TABLE), lambda name: TABLE), [])

    def test_a_number_that_differs_is_named(self):
        wrong = faults(page("traffic", TABLE), lambda name: TABLE.replace("1.5", "1.6"))
        self.assertEqual(len(wrong), 1)
        self.assertIn("line 3: the page has 'x | 1.5', the program prints 'x | 1.6'", wrong[0])

    def test_missing_rows_are_found_on_both_sides(self):
        self.assertIn("no row", faults(page("traffic", TABLE), lambda name: TABLE + "| y | 2 |\n")[0])
        self.assertIn("no row", faults(page("traffic", TABLE + "| y | 2 |\n"), lambda name: TABLE)[0])

    def test_times_may_differ_but_nothing_else(self):
        self.assertEqual(faults(page("scaling", TIMED), lambda name: TIMED.replace("0.1 | 0.2", "7 | 9")), [])
        self.assertEqual(len(faults(page("scaling", TIMED), lambda name: TIMED.replace("| 3 |", "| 4 |"))), 1)

    def test_a_page_without_tables_is_wrong(self):
        self.assertEqual(len(faults("text", lambda name: TABLE)), 1)


if __name__ == "__main__":
    unittest.main()
