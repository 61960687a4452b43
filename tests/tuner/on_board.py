#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests scripts/on-board with an ssh server on this machine in the role of the board.

usage: on_board.py <repository> <tuner> [runner]   tuner: an executable; runner: runs it if this machine cannot
Exit code 77: there is no ssh or no ssh server.
"""
import contextlib
import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

REPOSITORY, TUNER, RUNNER = "", "", ""
SKIPPED = 77


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def find_sshd():
    return shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


@contextlib.contextmanager
def board():
    """Yields the command that reaches an ssh server; its keys and other files are in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        shutil.copy(folder / "user.pub", folder / "authorized")
        port = free_port()
        (folder / "sshd_config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile {folder}/pid\n"
            f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            "PermitRootLogin prohibit-password\n")
        (folder / "ssh_config").write_text(
            f"Host board class linux fe80::1 192.0.2.1\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  IdentityFile {folder}/user\n"
            f"  UserKnownHostsFile {folder}/known\n  StrictHostKeyChecking no\n  LogLevel ERROR\n  IdentitiesOnly yes\n"
            f"  ControlMaster auto\n  ControlPath {folder}/m\n  ControlPersist 60\n")  # since a login takes longer than all else
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # for privilege separation
        with open(folder / "log", "w") as log:
            server = subprocess.Popen([find_sshd(), "-D", "-e", "-f", folder / "sshd_config"], stderr=log)
        ssh = f"ssh -F {folder}/ssh_config"
        try:
            for _ in range(50):
                if subprocess.run([*ssh.split(), "board", "true"], stderr=subprocess.DEVNULL).returncode == 0:
                    break
                time.sleep(.1)
            else:
                print("skipped: the ssh server does not answer:", (folder / "log").read_text(), sep="\n")
                sys.exit(SKIPPED)
            yield ssh, folder
        finally:
            subprocess.run([*ssh.split(), "-O", "exit", "board"], stderr=subprocess.DEVNULL)
            server.terminate()
            server.wait()


class OnBoard(unittest.TestCase):
    def setUp(self):
        self.here = tempfile.TemporaryDirectory()
        self.addCleanup(self.here.cleanup)
        self.output = pathlib.Path(self.here.name) / "results" / "my_board.hpp"

    def run_script(self, *words, folder="home", executable=None):
        command = [f"{REPOSITORY}/scripts/on-board", "--ssh", self.ssh, "--folder", f"{self.folder}/{folder}",
                   "--executable", executable or TUNER, "--runner", RUNNER, "--output", self.output, *words]
        return subprocess.run(command, capture_output=True, text=True)

    def test_header_log_plot_and_report_come_back(self):
        run = self.run_script("board", "tune", "synthetic", "--budget", "40", "--plot", "curve.svg", folder="with blank")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(p.name for p in self.output.parent.iterdir()),
                         ["curve.svg", "my_board.hpp", "my_board.synthetic.jsonl", "my_board.tune_synthetic.txt"])
        self.assertIn("ago::schedule_table my_board{{", self.output.read_text())
        self.assertIn("device: board\n", self.output.read_text())
        log = (self.output.parent / "my_board.synthetic.jsonl").read_text()
        self.assertEqual(log.count("\n"), 41)
        self.assertIn("sum of the steps", run.stdout)
        self.assertEqual((self.output.parent / "my_board.tune_synthetic.txt").read_text(), run.stdout)
        self.assertTrue((self.folder / "with blank" / "my_board.hpp").exists())

    def test_a_search_goes_on(self):
        self.assertEqual(self.run_script("board", "tune", "synthetic", "--budget", "30", folder="again").returncode, 0)
        refused = self.run_script("board", "tune", "synthetic", "--budget", "50", folder="again")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--resume continues it", refused.stderr)
        run = self.run_script("board", "tune", "synthetic", "--budget", "50", "--resume", folder="again")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"50 trials, [1-9]\d* of them from the log")

    def test_every_host_gives_its_table_a_name_of_cpp(self):
        for host, name in (("class", "board_class"), ("linux", "board_linux"), ("fe80::1", "fe80_1"),
                           ("192.0.2.1", "board_192_0_2_1")):
            with self.subTest(host):
                run = subprocess.run(
                    [f"{REPOSITORY}/scripts/on-board", "--ssh", self.ssh, "--folder", f"{self.folder}/{name}",
                     "--executable", TUNER, "--runner", RUNNER, host, "tune", "synthetic", "--budget", "5"],
                    capture_output=True, text=True, cwd=self.here.name)
                self.assertEqual(run.returncode, 0, run.stderr)
                header = (pathlib.Path(self.here.name) / "tuned" / f"{name}.hpp").read_text()
                self.assertRegex(header, rf"\binline constexpr ago::\w+ {name}{{")

    def run_rows(self, body, *networks):
        program = pathlib.Path(self.here.name) / "program"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        return subprocess.run([f"{REPOSITORY}/scripts/on-board", "--ssh", self.ssh, "--folder", f"{self.folder}/rows",
                               "--executable", program, "board", "rows", *networks],
                              capture_output=True, text=True, cwd=self.here.name)

    def test_rows_of_the_table_of_boards_are_printed_and_nothing_else(self):
        run = self.run_rows("echo words; echo '| a | 56 | core | 1.00 (0.90) |'", "one", "two")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines(), ["| network | size | core | ago: median (least), ms |", "| --- | --- | --- | --- |",
                                                   *["| a | 56 | core | 1.00 (0.90) |"] * 2])
        self.assertEqual(len(self.run_rows("echo '| a |'").stdout.splitlines()), 2 + 9)  # the networks of docs/arm.md
        self.assertFalse((pathlib.Path(self.here.name) / "tuned").exists())

    def test_a_network_without_a_row_is_named(self):
        for body in ("exit 3", "echo nothing"):
            run = self.run_rows(body, "one")
            self.assertEqual(run.returncode, 1)
            self.assertRegex(run.stderr, "on-board: one (could not be timed|printed no row)")

    def test_a_name_that_no_table_can_have_is_refused_before_anything_is_built(self):
        for name in ("class", "fe80__1", "_x", "2d", "my-board", "linux"):
            with self.subTest(name):
                run = subprocess.run([f"{REPOSITORY}/scripts/on-board", "--output", f"{self.here.name}/{name}.hpp",
                                      "--ssh", "false", "board", "tune", "mobilenet_v2_224"],
                                     capture_output=True, text=True, env=os.environ | {"PATH": self.without_cmake()})
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(f"'{name}' cannot be the name of a table", run.stderr)

    def test_options_of_the_model_are_passed_to_the_build(self):
        for words, expected in (((), ""), (("--options", "ago::cortex_a76"), "ago::cortex_a76")):
            with self.subTest(expected):
                run = subprocess.run([f"{REPOSITORY}/scripts/on-board", "--output", f"{self.here.name}/x.hpp", *words,
                                      "--ssh", "false", "board", "bench", "mobilenet_v2_224"],
                                     capture_output=True, text=True, env=os.environ | {"PATH": self.without_cmake()})
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertIn("CMake failed", run.stderr)
                self.assertIn(f"AGO_TUNED_OPTIONS={expected}", run.stderr.splitlines())

    def without_cmake(self):
        """A PATH whose first cmake prints its arguments and fails."""
        folder = pathlib.Path(self.here.name) / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "cmake").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 1\n")
        (folder / "cmake").chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    def test_what_fails_leaves_the_header(self):
        self.output.parent.mkdir()
        self.output.write_text("int main() {}\n")
        run = self.run_script("board", "tune", "synthetic", "--budget", "10", folder="foreign")
        self.assertEqual(run.returncode, 1)
        self.assertIn("was not generated by this tuner", run.stderr)
        self.assertEqual([p.name for p in self.output.parent.iterdir()], ["my_board.hpp"])
        self.assertEqual(self.output.read_text(), "int main() {}\n")

    def test_wrong_words_are_refused(self):
        for words, code, sentence in [
            (("board", "paint", "synthetic"), 2, "tune, bench or rows, not 'paint'"),
            (("board", "tune"), 2, "HOST, tune or bench, and NETWORK, or HOST and rows are needed"),
            (("board", "tune", "../x"), 2, "'../x' is not the name of a network"),
            (("board", "bench", "synthetic", "--budget", "3"), 2, "bench takes no flags"),
            (("nobody", "tune", "synthetic"), 1, "nobody cannot be reached"),
            (("board", "tune", "synthetic", "--budget", "0"), 1, "--budget needs a whole number"),
        ]:
            with self.subTest(sentence):
                run = self.run_script(*words)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertIn(sentence, run.stderr)
        run = self.run_script("board", "tune", "synthetic", executable="/dev/null")
        self.assertEqual(run.returncode, 1)
        self.assertIn("/dev/null is not an executable", run.stderr)


def main():
    global REPOSITORY, TUNER, RUNNER
    REPOSITORY, TUNER = (os.path.abspath(word) for word in sys.argv[1:3])
    RUNNER = sys.argv[3] if len(sys.argv) > 3 else ""
    for program in (find_sshd(), shutil.which("ssh"), shutil.which("ssh-keygen")):
        if not program:
            print("skipped: no ssh server or client is installed")
            return SKIPPED
    with board() as (OnBoard.ssh, OnBoard.folder):
        return not unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
