#!/usr/bin/env python3
"""ago-inspect as its users call it: what it prints, what it refuses, and that nothing half-done is left.

usage: test_inspect.py <ago-inspect> <repository> [--update]     (--update: docs/inspect.md shows what is printed now)
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

NETWORKS = ["mobilenet_v2", "mnasnet", "squeezenet", "shufflenet_v2", "mobilevit_s", "bert_tiny"]
POLICIES = ["ago", "ago-ni", "paper", "paper-adjacent", "fuse-ops", "apollo"]
PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])

MANUAL = ROOT / "docs" / "inspect.md"
SHOWN = re.compile(r"(```\n\$ ago-inspect ([^\n]*)\n)(.*?)(?=```\n)", re.S)  # a command, and what it prints


def run(*arguments, **more):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, **more)


class Formats(unittest.TestCase):
    def output(self, *arguments):
        done = run(*arguments)
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
        self.assertEqual(arena["ago-ni"], 4 * 112 * 112 * 96 + 4 * 56 * 56 * 96)  # as docs/pipeline.md has it
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
        for _, command, text in (block.groups() for block in shown):
            self.assertEqual(self.output(*command.split()), text, f"docs/inspect.md, {command}: --update mends it")


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
        self.refused("squeezenet", "--size", "5", says=["5 pixels a side", "max_pool", "larger than the image"])
        self.refused("mobilenet_v2", "--size", "100000", says=["elements"])

    def test_one_policy_at_a_time_where_two_do_not_fit(self):
        for form in ("json", "dot"):
            self.refused("mnasnet", "--format", form, "--against", "ago", says=["--against", form])


def update():
    text = MANUAL.read_text(encoding="utf-8")
    MANUAL.write_text(SHOWN.sub(lambda m: m[1] + run(*m[2].split()).stdout, text), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[3:] == ["--update"]:
        sys.exit(update())
    unittest.main(argv=sys.argv[:1])
