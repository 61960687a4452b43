#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests ago-inspect --measure: two small networks, compiled and run, and everything that can go wrong on the way.

usage: test_measure.py <ago-inspect> <repository> <compiler> [<inspector with the policy by-resolution>]

What is measured is not judged, and compiled without optimisation, since that takes less time.
"""
import contextlib
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, ROOT, COMPILER, OTHER = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], (sys.argv[4:] or [""])[0]
MODEL = ROOT / "examples" / "import" / "edges.onnx"
WRITES = """while [ "$1" != -o ]; do shift; done
cat > "$2" << 'end'
#!/bin/sh
%s
end
chmod +x "$2"
"""


class Case(unittest.TestCase):
    def setUp(self):
        with contextlib.ExitStack() as stack:
            self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="with blank ")))
            self.addCleanup(stack.pop_all().close)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}
        self.environment.pop("CXX", None)

    def compiler(self, script):
        """A program that is used instead of a compiler."""
        path = self.folder / "compiler"
        path.write_text("#!/bin/sh\n" + script + "\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def run_tool(self, *arguments, program=PROGRAM):
        return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=150,
                              env=self.environment)

    def left(self):
        return [*self.temporary.iterdir()]


class Measured(Case):
    def test_two_policies_of_a_model_side_by_side(self):
        model = self.folder / "it's a \"model\" $(touch hit) 100%.onnx"
        model.write_bytes(MODEL.read_bytes())
        if self.run_tool(model).returncode != 0:
            self.skipTest("ago-inspect is built without the ONNX importer")
        log = self.folder / "words"
        self.environment["CXX"] = self.compiler(f'printf "%s\\n" "$@" > "{log}"; exec "{COMPILER}" "$@" -O0')
        done = self.run_tool(model, "--measure", "--against", "ago", "--repetitions", 7)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.left(), [])
        self.assertFalse(pathlib.Path("hit").exists())
        self.assertIn("-O3", log.read_text(encoding="utf-8").split())
        self.assertIn("; 7 runs", done.stderr)

        def both(label):
            row = next(line for line in done.stdout.splitlines() if line.startswith(label + "  "))
            return [float(x) for x in row.removeprefix(label).split()]
        tables = done.stdout.split("steps under ago\n")[1:]
        self.assertEqual([len(table.strip().splitlines()) for table in tables], [1 + steps + 1 for steps in both("steps")])
        for median, least, steps in zip(both("measured us"), both("measured us, least"), both("sum of steps, us")):
            self.assertTrue(0 < least <= median)
            self.assertTrue(median / 5 < steps < median * 5)
        one, other = both("measured us, least")  # of one program in two copies
        self.assertTrue(one / 2 < other < one * 2, (one, other))

    def test_every_step_of_a_network_under_a_policy_of_the_users(self):
        policy = "by-resolution" if OTHER else "fuse-ops"
        compiler = self.compiler(f'exec "{COMPILER}" "$@" -O0')
        done = self.run_tool("bert_tiny", "--size", 4, "--policy", policy, "--measure", "--format", "json",
                             "--repetitions", 5, "--compiler", compiler, program=OTHER or PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.left(), [])
        whole = json.loads(done.stdout)
        self.assertEqual(whole["policy"], policy)
        steps = whole["partition"]["steps"]
        self.assertEqual(len(steps), whole["steps"])
        for of in (whole, *steps):
            self.assertTrue(0 < of["measured_least_us"] <= of["measured_us"])
        for number, subgraph in enumerate(whole["partition"]["subgraphs"]):
            of_steps = sum(s["measured_us"] for s in steps if s["subgraph"] == number)
            self.assertAlmostEqual(subgraph["measured_us"], of_steps, delta=.001 * len(steps))
        together = sum(s["measured_us"] for s in steps)
        self.assertTrue(whole["measured_us"] / 5 < together < whole["measured_us"] * 5)


class Failures(Case):
    def failed(self, *arguments, status=1, keeps=False):
        """What it says; nothing is printed, and files remain only where the user may need them."""
        done = self.run_tool("bert_tiny", *arguments)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertEqual(len(self.left()), int(keeps), done.stderr)
        if keeps:
            self.assertIn(str(self.left()[0]), done.stderr)
            self.assertIn("print_times<networks::bert_tiny<128>", (self.left()[0] / "timing.cpp").read_text("utf-8"))
        return done.stderr

    def test_what_is_refused_before_anything_is_compiled(self):
        other = "avx2+fma" if platform.machine() in ("aarch64", "arm64") else "neon64"
        self.assertIn(f"cannot run --target {other}", self.failed("--measure", "--target", other, status=2))
        for option in (("--core", "0"), ("--compiler", "g++"), ("--include", "."), ("--repetitions", "5")):
            self.assertIn("--measure", self.failed(*option, status=2))
        self.assertIn("--format text", self.failed("--measure", "--format", "dot", status=2))
        self.failed("--measure", "--repetitions", "0", status=2)

    def test_no_compiler(self):
        self.assertIn("no-such-program could not be started", self.failed("--measure", "--compiler", "no-such-program"))
        self.environment["CXX"] = "other-program -v"
        self.assertIn("other-program could not be started", self.failed("--measure"))

    def test_the_first_lines_of_a_compiler_are_shown(self):
        script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo line $i >&2; done; printf '\\033[31m'; exit 4"
        said = self.failed("--measure", "--compiler", self.compiler(script), keeps=True)
        self.assertIn("the compiler failed with exit status 4", said)
        self.assertTrue("\n  line 1\n" in said and "\n  line 12\n  ..." in said and "line 13" not in said, said)
        self.assertEqual((self.left()[0] / "compiler.log").read_text("utf-8").count("line "), 15)

    def test_a_header_that_the_compiler_refuses(self):
        """With headers of its own, which come first."""
        (self.folder / "ago" / "tuner").mkdir(parents=True)
        (self.folder / "ago" / "tuner" / "program_times.hpp").write_text("#error these are \x1b[2J not ago's\n", "utf-8")
        said = self.failed("--measure", "--include", self.folder, "--compiler", COMPILER, keeps=True)
        self.assertIn("these are", said)
        self.assertNotIn("\x1b", said)

    def test_a_program_that_crashes(self):
        said = self.failed("--measure", "--compiler", self.compiler(WRITES % "kill -SEGV $$"), keeps=True)
        self.assertIn("the compiled program was ended by a signal: " + signal.strsignal(signal.SIGSEGV), said)

    def test_a_program_that_fails_or_prints_something_else(self):
        self.assertIn("exit status 3", self.failed("--measure", "--compiler", self.compiler(WRITES % "exit 3"), keeps=True))

    def test_times_of_another_program(self):
        for text in ("", "[]", "{}", "{}}", '{"programs":[]}'):
            with self.subTest(text):
                self.setUp()
                said = self.failed("--measure", "--compiler", self.compiler(WRITES % f"echo '{text}'"), keeps=True)
                self.assertIn("did not print its times", said)

    def test_no_headers(self):
        alone = self.folder / "ago-inspect"
        alone.write_bytes(pathlib.Path(PROGRAM).read_bytes())
        alone.chmod(0o755)
        done = self.run_tool("bert_tiny", "--measure", program=alone)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("--include", done.stderr)

    def test_an_interruption_leaves_nothing(self):
        started = self.folder / "started"
        compiler = self.compiler(f'touch "{started}"; exec sleep 60')
        child = subprocess.Popen([PROGRAM, "bert_tiny", "--measure", "--compiler", compiler], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, env=self.environment, start_new_session=True)
        for _ in range(600):
            if started.exists():
                break
            time.sleep(.05)
        self.assertEqual(len(self.left()), 1)
        os.killpg(child.pid, signal.SIGINT)
        said = child.communicate(timeout=60)[1]
        self.assertEqual(child.returncode, 1)
        self.assertRegex(said, re.compile("interrupted$", re.M))
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
