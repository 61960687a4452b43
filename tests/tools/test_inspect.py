#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests ago-inspect as users call it: its output, its errors, and that it leaves no incomplete files.

usage: test_inspect.py <ago-inspect> <repository> [<ago-import>] [--update]

--update: puts the current output into docs/inspect.md. Without ago-import, the inspector must be unable to import too.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NETWORKS = ["mobilenet_v2", "mnasnet", "squeezenet", "shufflenet_v2", "mobilevit_s", "bert_tiny"]
POLICIES = ["ago", "ago-ni", "paper", "paper-adjacent", "fuse-ops", "apollo"]
PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
IMPORTER = next((word for word in sys.argv[3:] if word and word != "--update"), None)
MODEL = ROOT / "examples" / "import" / "edges.onnx"

MANUAL = ROOT / "docs" / "inspect.md"
SHOWN = re.compile(r"(```\n\$ ago-inspect ([^\n]*)\n)(.*?)(?=```\n)", re.S)  # a command and its output


def run(*arguments, **more):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60, **more)


class Formats(unittest.TestCase):
    def output(self, *arguments):
        done = run(*arguments, cwd=ROOT)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def test_lists_what_there_is(self):
        text = self.output("--list")
        for name in NETWORKS + POLICIES + ["text", "json", "dot", "html"]:
            self.assertIn(name, text)

    def test_help(self):
        self.assertIn("--against", self.output("--help"))

    def test_json_of_all_networks_and_policies(self):
        for network in NETWORKS:
            for policy in POLICIES:
                figures = json.loads(self.output(network, "--policy", policy, "--format", "json"))
                self.assertEqual((figures["network"], figures["policy"]), (network, policy))
                self.assertLessEqual(figures["triples_captured"], figures["triples_possible"])

    def test_intensive_fusion_needs_less_memory(self):
        arena = {p: json.loads(self.output("mobilenet_v2", "--policy", p, "--format", "json"))["arena_bytes"]
                 for p in ("ago", "ago-ni")}
        self.assertEqual(arena["ago-ni"], 4 * 112 * 112 * 96 + 4 * 56 * 56 * 96)  # as in docs/pipeline.md
        self.assertLess(arena["ago"], arena["ago-ni"] / 4)

    def test_sizes(self):
        small, large = (json.loads(self.output("mnasnet", "--size", size, "--format", "json")) for size in ("56", "320"))
        self.assertEqual((small["size"], large["size"]), (56, 320))
        self.assertLess(small["arena_bytes"], large["arena_bytes"])
        self.assertIn(" 1x33x128 ", self.output("bert_tiny", "--size", "33"))

    def test_two_policies_side_by_side(self):
        text = self.output("squeezenet", "--policy", "apollo", "--against", "ago")
        head = next(line for line in text.splitlines() if line.startswith("policy"))
        self.assertEqual(head.split(), ["policy", "apollo", "ago"])
        page = self.output("squeezenet", "--against", "paper", "--format", "html")
        self.assertEqual(page.count('<section class="view"'), 2)

    def test_target_and_device_change_the_plan(self):
        avx, arm = (self.output("mobilenet_v2", "--target", t, "--device", d)
                    for t, d in (("avx2+fma", "x86-64"), ("neon64", "cortex-a55")))
        self.assertIn("for neon64 with 32 KiB of L1 and 128 KiB of L2", arm)
        self.assertNotEqual(avx.split("steps under")[1], arm.split("steps under")[1])

    def test_the_manual_shows_what_is_printed(self):
        shown = [*SHOWN.finditer(MANUAL.read_text(encoding="utf-8"))]
        self.assertGreaterEqual(len(shown), 2)
        for _, command, text in (block.groups() for block in shown if IMPORTER or ".onnx" not in block[2]):
            self.assertEqual(self.output(*command.split()), text, f"docs/inspect.md, {command}: --update corrects it")


class Files(unittest.TestCase):
    def test_a_file_is_what_would_be_printed_and_nothing_else_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            for form in ("text", "json", "dot", "html"):
                path = pathlib.Path(folder, form)
                done = run("bert_tiny", "--format", form, "--output", str(path))
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                self.assertEqual(path.read_text(encoding="utf-8"), run("bert_tiny", "--format", form).stdout)
            self.assertEqual(len(list(pathlib.Path(folder).iterdir())), 4)

    def test_what_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in (folder, folder + "/none/file"):
                done = run("bert_tiny", "--output", path)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, "^ago-inspect: cannot write .*: .*\n$")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PROGRAM, "bert_tiny"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("could not be written", done.stderr)


class Refusals(unittest.TestCase):
    def refused(self, *arguments, says):
        with tempfile.TemporaryDirectory() as folder:
            done = run(*arguments, "--output", folder + "/file")
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            for words in says:
                self.assertIn(words, done.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_unknown_words_are_answered_with_what_there_is(self):
        self.refused("resnet", says=["'resnet'", *NETWORKS])
        self.refused(says=["a network is missing", *NETWORKS])
        for option in ("--policy", "--against"):
            self.refused("mnasnet", option, "best", says=["'best'", *POLICIES])
        self.refused("mnasnet", "--format", "pdf", says=["'pdf'", "text, json, dot and html"])
        self.refused("mnasnet", "--target", "mmx", says=["'mmx'", "avx512"])
        self.refused("mnasnet", "--device", "abacus", says=["'abacus'", "cortex-a76"])
        self.refused("mnasnet", "--tune", says=["--tune"])
        self.refused("mnasnet", "squeezenet", says=["squeezenet"])

    def test_sizes(self):
        for size in ("0", "-8", "12x12", "1e3", "99999999999", " 7"):
            self.refused("mnasnet", f"--size={size}", says=[f"'{size}'", "pixels a side"])
        self.refused("bert_tiny", "--size", "many", says=["'many'", "tokens"])
        self.refused("squeezenet", "--size", "5", says=["5 pixels a side", "max_pool", "window exceeds input"])
        self.refused("mobilenet_v2", "--size", "100000", says=["elements"])

    def test_one_policy_at_a_time_where_two_do_not_fit(self):
        for form in ("json", "dot"):
            self.refused("mnasnet", "--format", form, "--against", "ago", says=["--against", form])


class Models(unittest.TestCase):
    def setUp(self):
        if not IMPORTER:
            self.skipTest("ago-inspect is built without the ONNX importer")

    def output(self, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refused(self, model, *arguments):
        """The sentences that both programs print; nothing is written."""
        with tempfile.TemporaryDirectory() as folder:
            told = [run(model, *arguments, "--output", folder + "/file"),
                    subprocess.run([IMPORTER, model, "--out", folder + "/files", *arguments], capture_output=True,
                                   text=True, timeout=60)]
            self.assertEqual([(done.returncode, done.stdout) for done in told], [(2, ""), (2, "")])
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
            self.assertEqual(told[0].stderr.removeprefix("ago-inspect: "), told[1].stderr.removeprefix("ago-import: "))
            return told[0].stderr

    def test_text(self):
        text = self.output(MODEL, "--against", "fuse-ops")
        self.assertRegex(text, r"^edges.onnx: \d+ operators, for ")
        self.assertIn("24x48x1 > 24x48x2", text)
        self.assertIn("steps under fuse-ops", text)

    def test_json_has_the_figures_of_every_network(self):
        figures = json.loads(self.output(MODEL, "--format", "json"))
        self.assertEqual((figures["network"], figures["size"]), ("edges.onnx", None))
        known = json.loads(self.output("squeezenet", "--format", "json"))
        self.assertEqual(list(figures), list(known))
        self.assertGreater(figures["steps"], 0)

    def test_graphs_name_the_nodes_of_the_model(self):
        page = self.output(MODEL, "--format", "html")
        self.assertIn("<h1>edges.onnx</h1>", page)
        self.assertIn('"name":"slopes"', page)
        self.assertIn("slopes", self.output(MODEL, "--format", "dot"))

    def test_names_that_a_terminal_would_obey_are_written_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "\x1b[2J\u202e.onnx")
            path.write_bytes(MODEL.read_bytes().replace(b"slopes", b"\x1b[31m\a"))
            for form in ("text", "json", "dot", "html"):
                text = self.output(path, "--format", form)
                self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
                if form in ("dot", "html"):
                    self.assertIn("x1b[31m", text)
            path.write_bytes(MODEL.read_bytes().replace(b"steepness", b"\x1b[31mred.").replace(b"Sqrt", b"Sqrx"))
            told = run(path)
            self.assertEqual(told.returncode, 2)
            self.assertNotRegex(told.stderr, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")

    def test_a_name_with_a_slash_is_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(MODEL, folder + "/model")
            self.assertIn("model: ", self.output(folder + "/model"))

    def test_what_cannot_be_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            def variant(content):
                path = pathlib.Path(folder, "model.onnx")
                path.write_bytes(content)
                return path
            good = MODEL.read_bytes()
            self.assertIn("cannot be imported:\n", self.refused(variant(b"no model at all")))
            self.refused(variant(good[:len(good) // 2]))
            self.assertIn('node "steepness" (Sqrx)', self.refused(variant(good.replace(b"Sqrt", b"Sqrx"))))
            self.refused(folder + "/missing.onnx")
            self.assertIn('"height"', self.refused(MODEL, "--dim", "height=3"))
            self.assertIn("--dim takes NAME=NUMBER", self.refused(MODEL, "--dim", "height"))

    def test_options_of_the_other_kind_of_network(self):
        for words, says in (((MODEL, "--size", "7"), "--dim"), (("mnasnet", "--dim", "N=1"), "mnasnet is not one"),
                            ((MODEL, "--batch", "0"), "--batch")):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(says, done.stderr)


class NoModels(unittest.TestCase):
    def test_an_inspector_without_importer_says_so(self):
        if IMPORTER:
            self.skipTest("ago-inspect is built with the ONNX importer")
        done = run(MODEL)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^ago-inspect: .*edges.onnx cannot be imported: .*--with tools.*\n$")


def update():
    text = MANUAL.read_text(encoding="utf-8")
    MANUAL.write_text(SHOWN.sub(lambda m: m[1] + run(*m[2].split(), cwd=ROOT).stdout, text), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[-1] == "--update":
        sys.exit(update())
    unittest.main(argv=sys.argv[:1])
