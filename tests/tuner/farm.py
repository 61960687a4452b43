#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests scripts/tune-farm: workers on this machine, some of which are killed.

usage: farm.py <repository> <tuner>   tuner: the synthetic one
Exit code 77: GNU parallel is not installed. Over ssh it is tested where there is an ssh server, and with Slurm by an
sbatch that runs the tasks of an array here.
"""
import concurrent.futures
import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import on_board

REPOSITORY, TUNER = "", ""
SKIPPED = 77
# A board is a folder; one that has a file "off" does not answer.
SSH = """#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
mkdir -p '{boards}'/$1 && cd '{boards}'/$1 && [ ! -e off ] || exit 255
sh -c "$2"; code=$?
[ ! -e off ] || exit 255
exit $code
"""
SBATCH = """#!/usr/bin/env python3
import os, subprocess, sys
values = dict(word.split("=", 1) for word in sys.argv if "=" in word and word.startswith("--"))
if "--version" in sys.argv: sys.exit(print("a stand-in for slurm"))
assert "--wait" in sys.argv and values["--partition"] == "boards" and values["--time"] == "5", sys.argv
first, last = map(int, values["--array"].split("-"))
out = open(os.environ["SBATCH_LOG"], "a")
out.write(f"{first} to {last}\\n")
out.flush()
tasks = [subprocess.Popen(["sh", "-c", sys.argv[-1]], stdout=out, stderr=out,
                          env=os.environ | {"SLURM_ARRAY_TASK_ID": str(k)}) for k in range(first, last + 1)]
sys.exit(max([task.wait() for task in tasks]))
"""


class Farm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """What undisturbed searches find."""
        cls.calm = cls("run_farm")
        cls.calm.setUp()
        cls.addClassCleanup(cls.calm.doCleanups)
        code, _, err = cls.calm.run_farm("out", *(cls.calm.tuner(n, delay=0) for n in "ab"))
        cls.calm.assertEqual(code, 0, err)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tune farm ")
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)

    def tuner(self, network, text=None, delay=20):
        """A tuner of its own for a network, which notes its process. A trial takes `delay` milliseconds."""
        path = self.here / f"tune_{network}"
        path.write_text(text or f"#!/bin/sh\necho $$ >>'{self.here}/{network}.pid'\nexport SYNTHETIC_NETWORK={network} "
                                f"SYNTHETIC_DELAY={delay}\nexec '{TUNER}' \"$@\"\n")
        path.chmod(0o755)
        return path

    def start(self, output, *words, hosts=("--hosts", ":,:"), flags=("--budget", "60"), env=None):
        command = [f"{REPOSITORY}/scripts/tune-farm", *hosts, "--output", self.here / output, *words, "--", *flags]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=os.environ | (env or {}))

    def run_farm(self, *words, **more):
        farm = self.start(*words, **more)
        out, err = farm.communicate()
        return farm.returncode, out, err

    def wait_for(self, condition, farm):
        for _ in range(600):
            if found := condition():
                return found
            self.assertIsNone(farm.poll(), "the farm ended before the moment of the test")
            time.sleep(.02)
        self.fail("the moment of the test did not come")

    def log_there(self, job):
        """The log where the tuner writes it, once it has ten measurements."""
        path = self.here / "out" / "farm" / "run" / job / "log.jsonl"
        lines = path.read_text().splitlines()[:-1] if path.exists() else []
        return lines if len(lines) > 10 else None

    def kill_tuner(self, network, how=signal.SIGKILL):
        for pid in (self.here / f"{network}.pid").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), how)

    def measurements(self, job, folder=None):
        lines = ((folder or self.here / "out") / f"{job}.jsonl").read_text().splitlines()
        return [line.split(',"took_s"')[0] for line in lines]

    def assert_same_results(self, calm, jobs):
        for job in jobs:
            self.assertEqual(*((folder / f"{job}.hpp").read_text() for folder in (calm, self.here / "out")))
            self.assertEqual(self.measurements(job, calm), self.measurements(job))

    def test_killed_tuners_and_workers_lose_nothing(self):
        farm = self.start("out", self.tuner("a", delay=50), self.tuner("b", delay=50))
        before = {"a": self.wait_for(lambda: self.log_there("a"), farm)}
        self.kill_tuner("a")
        before["b"] = self.wait_for(lambda: self.log_there("b"), farm)
        workers = (lock.read_text().split() for lock in (self.here / "out" / "farm").glob("host-*.lock"))
        os.kill(next(int(pid) for pid, job in workers if job == "b"), signal.SIGKILL)
        out, err = farm.communicate()
        self.assertEqual(farm.returncode, 0, err)
        self.assertIn("tune-farm: a: the tuner was killed by signal 9", err)
        self.assert_same_results(self.calm.here / "out", "ab")
        for job, lines in before.items():
            self.assertEqual((self.here / "out" / f"{job}.jsonl").read_text().splitlines()[:len(lines)], lines)
            report = (self.here / "out" / f"{job}.txt").read_text()
            self.assertRegex(report, r"60 trials, [1-9]\d+ of them from the log")
        self.assertEqual(len(out.splitlines()), 2)
        self.assertEqual(out.count(".hpp: default 13."), 2)

    def test_an_interrupted_farm_continues_and_a_finished_one_does_nothing(self):
        tuners = [self.tuner(n) for n in "ab"]
        farm = self.start("out", *tuners)
        self.wait_for(lambda: self.log_there("a"), farm)
        farm.terminate()
        err = farm.communicate()[1]
        self.assertEqual(farm.returncode, 130)
        self.assertRegex(err, r"missing: a \(\d+ measurements in its log\)")
        with open(self.here / "out" / "farm" / "lock", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("another tune-farm is working in", self.run_farm("out", *tuners)[2])
        code, _, err = self.run_farm("out", *tuners)
        self.assertEqual(code, 0, err)
        self.assertRegex((self.here / "out" / "a.txt").read_text(), r"60 trials, [1-9]\d* of them from the log")
        runs = (self.here / "a.pid").read_text()
        code, out, _ = self.run_farm("out", *tuners)
        self.assertEqual((code, out.count("hpp: ")), (0, 2))
        self.assertEqual((self.here / "a.pid").read_text(), runs)
        (self.here / "out" / "a.hpp").unlink()  # lost: made again from the log
        self.assertEqual(self.run_farm("out", *tuners)[0], 0)
        self.assertIn("60 trials, 60 of them from the log", (self.here / "out" / "a.txt").read_text())

    def test_shares_of_a_network_become_one_header(self):
        self.assertEqual(self.run_farm("calm", "--shares", "2", self.tuner("whole", delay=0))[0], 0)
        farm = self.start("out", "--shares", "2", self.tuner("whole"))
        self.wait_for(lambda: self.log_there("whole.2of2"), farm)
        self.kill_tuner("whole", signal.SIGTERM)  # whose exit code is 0, and whose header is not complete
        out, err = farm.communicate()
        self.assertEqual(farm.returncode, 0, err)
        self.assertIn("whole.2of2: the tuner was interrupted", err)
        self.assert_same_results(self.here / "calm", ("whole", "whole.1of2", "whole.2of2"))
        header = (self.here / "out" / "whole.hpp").read_text()
        for block in (1, 2, 3):  # every subgraph is tuned
            self.assertIn(f"// whole, block {block}: part", header)
        self.assertIn("variant ago, 2 shares, seed 1, 121 of 121 trials", header)

    def test_what_is_missing_is_named(self):
        bad = self.tuner("bad", "#!/bin/sh\necho nothing works >&2\nexit 3\n")
        code, out, err = self.run_farm("out", "--tries", "2", bad, self.tuner("good"), env={"SYNTHETIC_BUSY": "always"})
        self.assertEqual(code, 1)
        self.assertIn("missing: bad (0 measurements in its log): exit code 3: nothing works", err)
        self.assertEqual(err.count("tune-farm: bad: exit code 3"), 2, err)
        self.assertEqual(len(out.splitlines()), 1)
        self.assertIn("good.hpp: ", out)
        self.assertRegex(err, "tune-farm: good on .*: warning: this machine was busy")
        code, _, err = self.run_farm("shares", "--tries", "1", "--shares", "2", bad)
        self.assertIn("missing: bad (0 measurements in its log): it needs bad.1of2 and bad.2of2", err)

    def test_slurm_runs_a_job_array(self):
        sbatch = self.here / "sbatch"
        sbatch.write_text(SBATCH)
        sbatch.chmod(0o755)
        env = {"PATH": f"{self.here}:{os.environ['PATH']}", "SBATCH_LOG": str(self.here / "tasks.txt")}
        once = self.here / "once"  # its first search ends with a failure
        tuners = [self.tuner("a"), self.tuner("b", f"#!/bin/sh\nexport SYNTHETIC_NETWORK=b\n[ -e '{once}' ] || "
                                                   f"{{ touch '{once}'; kill -9 $$; }}\nexec '{TUNER}' \"$@\"\n")]
        code, out, err = self.run_farm("out", "--sbatch", "--time=5", *tuners, hosts=("--slurm", "boards"), env=env)
        tasks = (self.here / "tasks.txt").read_text()
        self.assertEqual(code, 0, err + tasks)
        self.assertEqual([line for line in tasks.splitlines() if " to " in line], ["1 to 2", "1 to 1"])
        self.assertIn("b: the tuner was killed by signal 9", tasks)
        self.assertEqual(out.count(".hpp: default"), 2)

    def test_another_board_takes_over_from_one_that_is_lost(self):
        tuners = [self.tuner("a", delay=50), self.tuner("b", delay=50)]
        ssh = self.here / "ssh"
        ssh.write_text(SSH.format(boards=self.here / "boards"))
        ssh.chmod(0o755)
        farm = self.start("out", "--ssh", f"'{ssh}'", *tuners, hosts=("--hosts", "one,two"))
        copy = self.here / "out" / "a.jsonl"
        self.wait_for(lambda: copy.exists() and copy.read_text().count("\n") > 2, farm)
        names = ("one", "two") if list((self.here / "boards" / "one").rglob("a/log.jsonl")) else ("two", "one")
        (self.here / "boards" / names[0] / "off").touch()
        self.kill_tuner("a")
        copied = copy.read_text().split("\n")[:-1]
        err = farm.communicate()[1]
        self.assertEqual(farm.returncode, 0, err)
        self.assertIn(f"tune-farm: a: {names[0]} cannot be reached: the connection was lost", err)
        self.assertIn(f"tune-farm: a: on {names[1]}", err)
        self.assert_same_results(self.calm.here / "out", "ab")
        self.assertEqual(copy.read_text().splitlines()[:len(copied)], copied)

    @unittest.skipUnless(on_board.find_sshd() and shutil.which("ssh") and shutil.which("ssh-keygen"), "no ssh server")
    def test_over_ssh_hosts_that_do_not_answer_are_left_out(self):
        tuners = [self.tuner("a"), self.tuner("b")]
        with on_board.board() as (ssh, folder):
            more = ("--ssh", ssh, "--folder", f"{folder}/blank here")
            code, out, err = self.run_farm("out", *more, *tuners, hosts=("--hosts", "nobody.invalid,linux,class"),
                                            flags=("--budget", "20"))
            self.assertEqual(code, 0, err)
            self.assertIn("nobody.invalid cannot be reached", err)
            self.assertEqual(out.count(".hpp: default"), 2)
            self.assertEqual(len(self.measurements("a")), 21)
            self.assertEqual([*(folder / "blank here").rglob("tuner")], [])
            code, _, err = self.run_farm("none", *more, tuners[0], hosts=("--hosts", "nobody.invalid"))
            self.assertEqual(code, 1)
            self.assertIn("missing: a (0 measurements in its log): no host can be reached", err)

    def test_wrong_words_are_refused(self):
        tuner = self.tuner("a")
        for words, flags, sentence in [
            (["/dev/null"], (), "/dev/null is not an executable"),
            ([tuner, tuner], (), "two tuners are for a"),
            ([tuner], ("--resume",), "tune-farm chooses --resume itself"),
            ([tuner], ("--log=x",), "tune-farm chooses --log itself"),
            (["--shares", "0", tuner], (), "--shares and --tries are at least 1"),
            ([self.tuner("2d")], (), "'2d' cannot be the name of a table"),
        ]:
            with self.subTest(sentence):
                code, _, err = self.run_farm("out", *words, flags=flags)
                self.assertEqual(code, 2, err)
                self.assertIn(sentence, err)
        self.assertFalse((self.here / "out").exists())
        self.assertIn("sbatch is not installed", self.run_farm(
            "out", tuner, hosts=("--slurm", "x"), env={"PATH": self.path_without_sbatch()})[2])

    def path_without_sbatch(self):
        os.symlink(sys.executable, self.here / "python3")
        os.symlink("/usr/bin/env", self.here / "env")
        return str(self.here)


def main():
    global REPOSITORY, TUNER
    REPOSITORY, TUNER = (os.path.abspath(word) for word in sys.argv[1:3])
    version = subprocess.run("parallel --version", shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if "GNU parallel" not in version.stdout:
        print("skipped: GNU parallel is not installed")
        return SKIPPED
    result = unittest.TextTestResult(unittest.runner._WritelnDecorator(sys.stderr), True, 1)
    Farm.setUpClass()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # they wait most of the time
        list(pool.map(lambda test: test.run(result), unittest.defaultTestLoader.loadTestsFromTestCase(Farm)))
    Farm.doClassCleanups()
    result.printErrors()
    return not result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
