# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds programs for 64-bit Arm, runs them on qemu-aarch64 with the plugin, and turns its counts into milliseconds."""
import array
import bisect
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "arm64-bench"
QEMU = "qemu-aarch64"
TOLERANCE = 1e-4  # between the results of engines, see bench/agreement.hpp


@dataclasses.dataclass(frozen=True)
class Core:
    """Cycles come from a core model in which every access hits L1; each miss adds cycles of its own. Of a range of times, the
    lower one takes every miss for foreseen by a prefetcher, the upper one only those that continue a run. The cycles of a
    miss are not from a manual. They are round numbers: a foreseen miss costs what it occupies of the bandwidth (of DRAM
    at the clock: 64 bytes in 20 cycles at 2.0 GHz are 6.4 GB/s, in 16 at 2.4 GHz 9.6 GB/s), any other a good part of the
    latency, of which the out-of-order core hides more. docs/arm.md has the check against published times."""
    title: str
    ghz: float
    qemu: str  # its closest processor
    part: str  # of MIDR_EL1, as in /proc/cpuinfo
    sizes: tuple  # KB of L1, L2 and, if there is one, L3, as plugin/recorder.hpp has them
    model: str
    device: str  # in partition/device.hpp
    l1_foreseen: float
    l1: float
    l2_foreseen: float
    l2: float
    l3_share: float = 1  # the share of a miss of L2 that it costs if L3 has the line

    @property
    def peak(self):
        """Multiply-adds of four floats a cycle."""
        return 1 if self.model == "in_order" else 2


CORES = {
    "a53": Core("Cortex-A53, 1.4 GHz", 1.4, "cortex-a53", "0xd03", (32, 512), "in_order", "cortex_a53", 4, 10, 20, 120),
    "a55": Core("Cortex-A55, 2.0 GHz", 2.0, "neoverse-n1", "0xd05", (32, 128), "in_order", "cortex_a55", 4, 10, 20, 120),
    "a76": Core("Cortex-A76, 2.4 GHz", 2.4, "cortex-a76", "0xd0b", (64, 512, 2048), "out_of_order", "cortex_a76", 1, 3, 16, 80, .4),
}


@dataclasses.dataclass
class Report:
    """What the plugin counted. `steps`: a dictionary for each step of ago's plan, or one for another engine. Of ago:
    `bytes`, of trained parameters, inputs and outputs; `operations` on floats that are needed beside multiply-adds."""
    steps: list
    blocks: list
    program: pathlib.Path
    results: pathlib.Path
    bytes: int = 0
    operations: int = 0

    @property
    def total(self):
        names = [name for name, value in self.steps[0].items() if isinstance(value, int)]
        return {name: sum(step[name] for step in self.steps) for name in names}


def multiply_adds(counts):
    """Of four floats."""
    return counts["multiply_adds"] + counts["half_multiply_adds"] / 2 + counts["scalar_multiply_adds"] / 4


def cycles(counts, core):
    """(least, most), see Core."""
    c = CORES[core]
    l1, l2 = counts[f"{core}_l1"], counts[f"{core}_l2"]
    far = counts[f"{core}_far"] / l2 if l2 else 1
    share = far + c.l3_share * (1 - far)

    def of(l1_foreseen, l2_foreseen):
        return (counts[f"{c.model}_cycles"] + l1_foreseen * c.l1_foreseen + (l1 - l1_foreseen) * c.l1 +
                (l2_foreseen * c.l2_foreseen + (l2 - l2_foreseen) * c.l2) * share)

    return of(l1, l2), of(counts[f"{core}_l1_foreseen"], counts[f"{core}_l2_foreseen"])


def milliseconds(counts, core):
    return tuple(n / CORES[core].ghz / 1e6 for n in cycles(counts, core))


def floor(report, core):
    """Milliseconds that no program can be below in this model if it computes with the algorithms of ago's plan: (for the
    multiply-adds, for other operations on the same pipes, for the misses). The multiply-adds are those of the direct
    algorithm, or those executed if they are fewer, as with Winograd's algorithm. Of parameters, inputs and outputs, what
    exceeds the caches must come from beyond them in each inference, even if every miss is foreseen."""
    c = CORES[core]
    needed = sum(min(step["macs"] / 4, multiply_adds(step)) for step in report.steps)

    def beyond(level):
        return max(0, report.bytes - 1024 * sum(c.sizes[:level])) / 64

    l1, l2 = beyond(1), beyond(2)
    far = beyond(3) if len(c.sizes) > 2 else l2
    misses = l1 * c.l1_foreseen + (far + (l2 - far) * c.l3_share) * c.l2_foreseen
    return tuple(n / c.ghz / 1e6 for n in (needed / c.peak, report.operations / 4 / c.peak, misses))


def losses(counts, core):
    """Milliseconds of the middle of the range, by where they go: multiply-adds at the peak, what else the core does or waits
    for, misses of L1 and of L2 if all were foreseen, and what half of those that are not cost more."""
    c = CORES[core]
    needed = multiply_adds(counts) / c.peak
    own = counts[f"{c.model}_cycles"]
    least, most = cycles(counts, core)
    l1 = counts[f"{core}_l1"] * c.l1_foreseen
    parts = needed, own - needed, l1, least - own - l1, (most - least) / 2
    return tuple(n / c.ghz / 1e6 for n in parts)


def middle(range_of):
    return (range_of[0] + range_of[1]) / 2


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def missing():
    """Why nothing can be measured here, or None."""
    for program in QEMU, "aarch64-linux-gnu-g++", "cmake":
        if not shutil.which(program):
            return f"{program} was not found; scripts/setup --with arm-bench installs it"
    return None


def circumstances():
    """With what the programs are compiled and run."""
    compiler, emulator = (checked([program, "--version"]).splitlines()[0] for program in ("aarch64-linux-gnu-g++", QEMU))
    return f"Compiled by g++ {compiler.split()[-1]} with -O3, run on QEMU {emulator.split()[2]}"


def checked(command, **others):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **others)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def build(targets, settings=()):
    """Builds programs of the preset arm64-bench."""
    if settings or not (BUILD / "CMakeCache.txt").exists():
        text = checked(["cmake", "--preset", "arm64-bench", *settings], cwd=ROOT)
        print(*(line for line in text.splitlines() if "without" in line), sep="\n", file=sys.stderr)
    checked(["cmake", "--build", BUILD, "--parallel", "1", "--target", *targets])


def plugin(folder=BUILD):
    """Builds the plugin for this machine, unless it is up to date."""
    library = folder / "ruler.so"
    sources = [*HERE.glob("plugin/*"), *HERE.glob("model/*"), HERE / "mark.hpp"]
    if not library.exists() or library.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        checked([os.environ.get("CXX", "c++"), "-O2", "-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library,
                 HERE / "plugin" / "plugin.cpp"])
    return library


def disguise(core, folder):
    """A folder with what Linux tells of a processor, for engines that choose kernels or tiles by it: four cores, L2 for each
    but on the Cortex-A53, where they share it."""
    c = CORES[core]
    root = folder / f"{core}_root"
    shutil.rmtree(root, ignore_errors=True)

    def write(name, text):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")

    caches = [(1, "Data", c.sizes[0], False), (1, "Instruction", c.sizes[0], False),
              *((level, "Unified", kb, level == 3 or core == "a53") for level, kb in enumerate(c.sizes[1:], 2))]
    caches += [(9, "Instruction", 0, False)] * (4 - len(caches))  # hides the one of this machine
    for name in "possible", "present":
        write(f"sys/devices/system/cpu/{name}", "0-3\n")
    for n in range(4):
        here = f"sys/devices/system/cpu/cpu{n}"
        for index, (level, kind, kb, shared) in enumerate(caches):
            for name, value in {"level": level, "type": kind, "size": f"{kb}K", "shared_cpu_map": "f" if shared else f"{1 << n:x}",
                                "shared_cpu_list": "0-3" if shared else n}.items():
                write(f"{here}/cache/index{index}/{name}", f"{value}\n")
        for name, value in {"physical_package_id": 0, "core_id": n, "core_cpus_list": n, "thread_siblings_list": n,
                            **{f"{group}_list": "0-3" for group in ("core_siblings", "cluster_cpus", "package_cpus")}}.items():
            write(f"{here}/topology/{name}", f"{value}\n")
    halves = "" if core == "a53" else " fphp asimdhp asimddp"
    write("proc/cpuinfo", "".join(
        f"processor\t: {n}\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid{halves}\n"
        f"CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: {c.part}\nCPU revision\t: 0\n\n"
        for n in range(4)))
    return root


def run(program, words=(), core=None, folder=BUILD):
    """The report on a program, or None if it exits with 77. It is kept until the program or the plugin changes."""
    library = plugin(folder)
    kept = folder / "reports"
    kept.mkdir(exist_ok=True)
    name = "-".join([program.name, *(pathlib.Path(word).name for word in words), *([core] if core else [])])
    root = disguise(core, folder) if core else None
    seen = CORES[core].qemu.encode() + b"".join(f.read_bytes() for f in sorted(root.rglob("*")) if f.is_file()) if core else b""
    key = hashlib.sha256(program.read_bytes() + library.read_bytes() + seen).hexdigest()
    file, results, output = (kept / f"{name}.{end}" for end in ("json", "results", "output"))
    mark = kept / f"{name}.key"
    if not mark.exists() or mark.read_text(encoding="utf-8") != key:
        cpu = ["-cpu", CORES[core].qemu, "-L", root] if core else ["-cpu", "neoverse-n1"]
        command = [QEMU, *cpu, "-plugin", f"{library},out={file}", program, results, *words]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        if done.returncode == 77:
            print(f"{name}: {done.stderr.splitlines()[0]}", file=sys.stderr)
            return None
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{(done.stdout + done.stderr)[-4000:]}")
        output.write_text(done.stdout, encoding="utf-8")
        mark.write_text(key, encoding="utf-8")
    found = json.loads(file.read_text(encoding="utf-8"))
    descriptions = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    network = descriptions.pop(0) if descriptions else {}
    for step, text in zip(found["steps"], descriptions):
        step.update({name: value for name, value in text.items() if name != "bytes"})
    return Report(found["steps"], found["blocks"], program, results, network.get("bytes", 0), network.get("operations", 0))


def difference(report, other):
    """Largest difference of the results, relative to the largest result."""
    values = []
    for r in report, other:
        values.append(array.array("f"))
        values[-1].frombytes(r.results.read_bytes())
    return max(abs(x - y) for x, y in zip(*values, strict=True)) / max(map(abs, values[0]))


class Symbols:
    """The functions of a program."""

    def __init__(self, program):
        lines = checked(["aarch64-linux-gnu-nm", "-C", "--defined-only", program]).splitlines()
        found = sorted((int(a, 16), name) for a, kind, name in (line.split(None, 2) for line in lines) if kind in "tTwWuV")
        self.addresses, self.names = [a for a, _ in found], [n for _, n in found]

    def at(self, address):
        return self.names[bisect.bisect_right(self.addresses, address) - 1]


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel of ago as its symbol tells it."""
    kind: str
    tile: str  # pixels x vectors, or columns x rows


# What is part of a function's name, and its kind. The first that fits counts.
KINDS = {"depthwise": "depthwise", "transform": "Winograd, inputs", "winograd": "Winograd", "im2col": "im2col", "convolution": "convolution",
         "pointwise": "pointwise", "linear": "pointwise", "accumulate_apart": "pointwise", "finish_apart": "long epilogues",
         "layer_norm": "layer norm", "attention": "attention", "multiply": "attention", "weigh": "attention", "pack_": "attention",
         "_row": "attention", "pool": "pooling", "reduction": "pooling"}


def kernel_of(symbol):
    name = re.search(r"\bago::(?:(?:kernel|simd|runtime)::)?(\w+)", symbol)
    kind = next((title for part, title in KINDS.items() if name and part in name[1]), "others")
    tile = re.search(r"register_tile\{(\d+), (\d+)", symbol)
    pixels, vectors = tile.groups() if tile else ("", "")
    if kind == "Winograd" and ">::finish_outputs<" in symbol:
        kind = "Winograd, outputs"
    if kind == "pointwise" and pixels == "1":
        kind = "one pixel"
    return Kernel(kind, f"{pixels}x{vectors}" if tile else "")
