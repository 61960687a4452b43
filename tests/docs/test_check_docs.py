#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that check_docs.py finds the faults that it should find."""
import pathlib
import tempfile
import unittest

from check_docs import check, update

FILE = """// [whole]
int main() {
  // [inner]
  int x = 1;
    int y = 2;
  // [/inner]
}
// [/whole]
"""
INNER = "int x = 1;\n  int y = 2;\n"
WHOLE = "int main() {\n  int x = 1;\n    int y = 2;\n}\n"


def block(code, source="examples/a.cpp#inner", language="cpp"):
    comment = f"<!-- file: {source} -->\n" if source else ""
    return f"Text.\n\n{comment}```{language}\n{code}```\n"


class CheckDocs(unittest.TestCase):
    def faults(self, page, compiled=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "docs").mkdir()
            (root / "examples").mkdir()
            (root / "examples/a.cpp").write_text(FILE)
            (root / "docs/page.md").write_text(page)
            if compiled is not None:
                compiled = {root / name for name in compiled}
            count, faults = check(root, compiled)
            self.assertEqual(count, page.count("```cpp") + page.count("```C++"))
            return faults

    def test_equal_blocks_pass(self):
        self.assertEqual(self.faults(block(INNER)), [])
        self.assertEqual(self.faults(block(WHOLE, "examples/a.cpp#whole")), [])
        self.assertEqual(self.faults(block(WHOLE, "examples/a.cpp")), [])
        self.assertEqual(self.faults(block(INNER) + "\n" + block(WHOLE, "examples/a.cpp")), [])

    def test_other_languages_need_no_file(self):
        self.assertEqual(self.faults("```console\n$ ls\n```\n```\nx\n```\n"), [])

    def test_a_block_without_file_is_found(self):
        self.assertIn("page.md:3: no <!--", self.faults(block(INNER, None))[0])
        self.assertIn("no <!--", self.faults(block(INNER, None, "C++"))[0])

    def test_the_comment_serves_one_block(self):
        self.assertEqual(len(self.faults(block(INNER) + f"```cpp\n{INNER}```\n")), 1)

    def test_a_changed_block_is_found(self):
        self.assertIn("differs", self.faults(block(INNER.replace("1", "3")))[0])
        self.assertIn("differs", self.faults(block(INNER.replace("  int", "int")))[0])
        self.assertIn("differs", self.faults(block(WHOLE))[0])

    def test_unknown_files_and_regions_are_found(self):
        self.assertIn("no file", self.faults(block(INNER, "examples/b.cpp"))[0])
        self.assertIn("no region", self.faults(block(INNER, "examples/a.cpp#outer"))[0])

    def test_files_that_are_not_compiled_are_found(self):
        self.assertEqual(self.faults(block(INNER), ["examples/a.cpp"]), [])
        self.assertIn("not compiled", self.faults(block(INNER), [])[0])

    def test_update_fills_every_block(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "examples").mkdir()
            (root / "examples/a.cpp").write_text(FILE)
            stale = block("") + block("int old;\n", "examples/a.cpp") + "\nThe end.\n"
            (root / "README.md").write_text(stale)
            update(root)
            self.assertEqual((root / "README.md").read_text(),
                             block("int x = 1;\n  int y = 2;\n") + block(WHOLE, "examples/a.cpp") + "\nThe end.\n")
            self.assertEqual(check(root), (2, []))


if __name__ == "__main__":
    unittest.main()
