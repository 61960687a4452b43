# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compilers and instruction sets whose code is examined."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import loops

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
CLANG = ["clang++-19", "clang++-14", "clang++"]
# g++ then collects garbage less often, which takes a fifth of its time.
ROOMY = ["--param", "ggc-min-expand=200", "--param", "ggc-min-heapsize=1000000"]
FLAGS = {"neon": [], "avx2": ["-march=haswell"], "avx512": ["-march=skylake-avx512"]}


def installed(every_clang=False):
    """(name, command, instruction sets) of each installed compiler; of several Clangs only the newest, by default."""
    x86 = subprocess.run(["uname", "-m"], capture_output=True, text=True).stdout.strip() == "x86_64"
    clangs = [name for name in CLANG if shutil.which(name)][:None if every_clang else 1]
    if len(clangs) > 1:
        clangs = [name for name in clangs if name != "clang++"]  # one of the others
    arm = ["neon"]
    if not x86:
        return [(name, [name], arm) for name in ["g++", *clangs] if shutil.which(name)]
    cross = "aarch64-linux-gnu-g++"
    found = [(cross, [cross], arm)] if shutil.which(cross) else []
    if found:  # Clang takes the cross compiler's C++ library
        found += [(f"{name} (aarch64)", [name, "--target=aarch64-linux-gnu"], arm) for name in clangs]
    return found + [(name, [name], ["avx2", "avx512"]) for name in ["g++", *clangs] if shutil.which(name)]


def assembly(command, isa, optimize, source, flags=(), xsimd=None):
    """The assembly that a compiler generates for a file or a text."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        places = [xsimd] if xsimd else ["/usr/include", "/usr/local/include"]
        for place in map(pathlib.Path, places):  # only xsimd from these folders: a cross compiler has its own headers
            if (place / "xsimd").is_dir():
                (folder / "xsimd").symlink_to(place / "xsimd")
                break
        if isinstance(source, str):
            (folder / "source.cpp").write_text(source)
            source = folder / "source.cpp"
        line = [*command, *([] if "clang" in command[0] else ROOMY), "-std=c++20", optimize, *FLAGS[isa], *flags,
                "-I", ROOT / "include", "-I", ROOT / "examples", "-isystem", folder, "-S", source, "-o", "-"]
        run = subprocess.run(line, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{' '.join(map(str, line))}\n{run.stderr[:4000]}")
        return run.stdout


KERNEL = re.compile(r"(?:(pointwise|convolution)_kernel|(depthwise)_(?:in_order|halves|kernel))<ago::plan::kernel_key\{")
KEY = re.compile(r"register_tile\{(\d+)(?:, (\d+))?(?:, (\d+))?(?:, (\d+))?\}"
                 r"(?:, (?:false|true|\((?:ago::ir::op|unsigned char)\)\d+))*, (\d+), \d+, (\d+)")
PANEL = re.compile(r"::panel<(\d+)")
# kernel_key::in_order and kernel_key::transposed, the bools after kernel_key::joined_pixels and window_row.
TRANSPOSED = re.compile(r"register_tile\{[^}]*\}(?:, (?:false|true))*(?:, \(unsigned char\)\d+){2}, true, true")


class KernelLoop:
    """An innermost loop of a kernel and the tile that it computes."""

    def __init__(self, loop, kernel, pixels, vectors, window=""):
        self.loop, self.kernel, self.pixels, self.vectors, self.window = loop, kernel, pixels, vectors, window

    @property
    def tile(self):
        return f"{self.pixels}x{self.vectors}"

    @property
    def name(self):
        return f"{self.kernel}{self.window} {self.tile}"


def kernel_loops(text, isa):
    """The innermost loops of all kernels, and the number of other loops that multiply and add."""
    found = []
    for loop in loops.innermost_loops(text, isa == "neon"):
        kernel, key = KERNEL.search(loop.function), KEY.search(loop.function)
        if not kernel or not key:
            continue
        pixels, vectors, pixels_left, _, window, stride = (int(g or 0) for g in key.groups())
        if kernel[2]:
            if window:
                found.append(KernelLoop(loop, "depthwise", pixels, vectors, f" {window}x{window} stride {stride}"))
            continue
        panel = PANEL.search(loop.function)
        steps = 4 if isa == "neon" else 1
        vectors = int(panel[1]) if panel else vectors
        if panel and pixels_left and loop.multiply_adds in (steps * pixels_left * vectors, pixels_left * vectors):
            pixels = pixels_left
        found.append(KernelLoop(loop, "transposed" if TRANSPOSED.search(loop.function) else kernel[1], pixels, vectors))
    return found
