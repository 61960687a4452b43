#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that the checks of docs/index.md and of shown outputs find the faults that they should find."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from check_index import faults  # noqa: E402
from check_output import shown_in  # noqa: E402


class CheckIndex(unittest.TestCase):
    def faults(self, index, page="# A page\n\n## What it *does*\n"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "docs/more").mkdir(parents=True)
            (root / "README.md").write_text("[docs](docs/index.md)\n")
            (root / "docs/index.md").write_text(index)
            (root / "docs/more/page.md").write_text(page)
            return [*faults(root)]

    def test_a_page_that_is_linked_once_is_right(self):
        self.assertEqual(self.faults("[page](more/page.md)\n"), [])
        self.assertEqual(self.faults("[page](more/page.md#what-it-does)\n"), [])

    def test_pages_that_are_not_linked_once_are_found(self):
        self.assertIn("0 times", self.faults("# Index\n")[0])
        self.assertIn("0 times", self.faults("`[page](more/page.md)`\n")[0])
        self.assertIn("2 times", self.faults("[page](more/page.md) [again](more/page.md)\n")[0])

    def test_dead_links_are_found(self):
        self.assertIn("does not exist", self.faults("[page](more/page.md) [x](x.md)\n")[0])
        self.assertIn("no such heading", self.faults("[page](more/page.md#nowhere)\n")[0])
        self.assertIn("does not exist", self.faults("[page](more/page.md)\n", '<img src="x.png">\n')[0])


class CheckOutput(unittest.TestCase):
    def run_check(self, shown, printed):
        with tempfile.TemporaryDirectory() as folder:
            page, program = pathlib.Path(folder) / "page.md", pathlib.Path(folder) / "program.py"
            page.write_text(f"text\n<!-- output: a -->\n```\n{shown}```\nmore\n")
            program.write_text(f"print({printed!r})\n")
            return subprocess.run([sys.executable, "-B", HERE / "check_output.py", page, "a", program], check=False,
                                  stdout=subprocess.DEVNULL).returncode

    def test_only_the_same_text_passes(self):
        self.assertEqual(self.run_check("4 ok\n", "4 ok"), 0)
        self.assertEqual(self.run_check("4 ok\n", "5 ok"), 1)

    def test_a_page_without_the_block_shows_nothing(self):
        self.assertIsNone(shown_in("<!-- output: b -->\n```\n1\n```\n", "a"))


if __name__ == "__main__":
    unittest.main()
