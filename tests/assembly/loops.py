# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Innermost loops of compiled functions, read from a compiler's assembly (GNU syntax; aarch64 and x86-64)."""
import dataclasses
import re
import subprocess

LABEL = re.compile(r"([.\w$]+):")
INSTRUCTION = re.compile(r"\s+([a-z][\w.]*)(?:\s+(.*?))?\s*$")
COMMENT = {True: re.compile(r"\s*//.*$|^\s*#.*$"), False: re.compile(r"\s*#.*$")}  # aarch64 or not


class Target:
    """The meaning of a line of assembly on one kind of processor."""

    def __init__(self, arm):
        self.arm = arm
        self.jump = re.compile(r"(b\.?\w\w|b|cbn?z|tbn?z)$" if arm else r"j\w+$")
        self.always = re.compile(r"(b|br|ret)$" if arm else r"(jmp|ret)q?$")
        self.multiply_add = re.compile(r"fmla|fmls|fmadd" if arm else r"vfn?m(add|sub)\d*ps")
        self.load = re.compile(r"ld" if arm else r"never$")

    def is_jump(self, i):
        return bool(self.jump.match(i.name)) and i.name not in ("bl", "blr", "br", "bic", "bfi", "bsl", "bit", "bif")

    def goal(self, i):
        """The target label of a jump."""
        found = re.search(r"(\.L[\w$.]+)\s*$", i.operands)
        return found and found[1]

    def touches_stack(self, i, frame_pointer):
        if self.arm:
            return bool(re.search(r"\[(sp|x29)\b" if frame_pointer else r"\[sp\b", i.operands))
        return bool(re.search(r"\(%r[sb]p[,)]" if frame_pointer else r"\(%rsp[,)]", i.operands))

    def loads(self, i):
        """The number of vectors or scalars that an instruction reads from memory."""
        if self.arm:
            return 2 if i.name == "ldp" else int(i.name.startswith("ld"))
        return int("(" in i.operands and not i.name.startswith(("lea", "prefetch")) and
                   not re.search(r"\)\s*(\{.*)?$", i.operands))


@dataclasses.dataclass(frozen=True)
class Instruction:
    line: int  # of the assembly
    name: str
    operands: str

    def __str__(self):
        return f"{self.name} {self.operands}".strip()


@dataclasses.dataclass
class Loop:
    """An innermost loop: all its instructions, and the path around it with the most multiply-adds."""
    function: str
    all: list
    path: list
    target: Target
    frame_pointer: bool

    @property
    def multiply_adds(self):
        return sum(bool(self.target.multiply_add.match(i.name)) for i in self.path)

    @property
    def loads(self):
        return sum(self.target.loads(i) for i in self.path)

    def stack(self):
        return [i for i in self.all if self.target.touches_stack(i, self.frame_pointer)]

    def text(self):
        """The path as straight-line assembly, without jumps except the last."""
        last = self.path[-1]
        return "".join(f"\t{i}\n" for i in self.path if i is last or not self.target.is_jump(i))


def functions(assembly, arm):
    """(mangled name, instructions, labels) of each function; labels: name -> index of the instruction that follows."""
    name, code, labels = None, [], {}
    for number, line in enumerate(assembly.splitlines(), 1):
        line = COMMENT[arm].sub("", line)
        if label := LABEL.match(line):
            if label[1].startswith(".L"):
                labels[label[1]] = len(code)
            else:
                name, code, labels = label[1], [], {}
        elif re.match(r"\s+\.size\s", line):
            if name and code:
                yield name, code, labels
            name = None
        elif name and (found := INSTRUCTION.match(line)):
            code.append(Instruction(number, found[1], found[2] or ""))


def blocks_of(code, labels, target):
    """Basic blocks: (first, last + 1, successors' block numbers)."""
    starts = {0, *(at for at in labels.values() if at < len(code))}
    starts |= {n + 1 for n, i in enumerate(code) if target.is_jump(i) or target.always.match(i.name)} - {len(code)}
    starts = sorted(starts)
    number = {start: n for n, start in enumerate(starts)}
    blocks = []
    for n, start in enumerate(starts):
        end = starts[n + 1] if n + 1 < len(starts) else len(code)
        last, next_ = code[end - 1], []
        if target.is_jump(last) and labels.get(target.goal(last), len(code)) < len(code):
            next_.append(number[labels[target.goal(last)]])
        if not target.always.match(last.name) and n + 1 < len(starts):
            next_.append(n + 1)
        blocks.append((start, end, next_))
    return blocks


def dominators(blocks):
    """(immediate dominator of each block that can be reached, blocks before each), after Cooper, Harvey and Kennedy."""
    order, seen, todo = [], {0}, [(0, iter(blocks[0][2]))]
    before = [[] for _ in blocks]
    while todo:
        block, successors = todo[-1]
        for s in successors:
            before[s].append(block)
            if s not in seen:
                seen.add(s)
                todo.append((s, iter(blocks[s][2])))
                break
        else:
            order.append(block)
            todo.pop()
    number = {block: n for n, block in enumerate(order)}
    above = {0: 0}
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            new = None
            for p in before[block]:
                if p not in above:
                    continue
                other, new = p, p if new is None else new
                while new != other:
                    if number[new] < number[other]:
                        new = above[new]
                    else:
                        other = above[other]
            if above.get(block) != new:
                above[block], changed = new, True
    return above, before


def natural_loops(blocks):
    """header -> blocks of the loop."""
    above, before = dominators(blocks)

    def dominates(header, block):
        while block != header and above[block] != block:
            block = above[block]
        return block == header

    loops = {}
    for n in above:
        for header in blocks[n][2]:
            if not dominates(header, n):
                continue
            body, todo = {header}, [n]
            while todo:
                b = todo.pop()
                if b not in body:
                    body.add(b)
                    todo += before[b]
            loops[header] = loops.get(header, set()) | body
    return loops


def heaviest_path(header, body, blocks, weight):
    """The heaviest path from the header back to it. A cycle with several entries, none of whose blocks is the header of
    a natural loop, is not followed."""
    best = {}

    def walk(b):
        if b not in best:
            best[b] = None  # being walked
            ways = [walk(s) for s in blocks[b][2] if s in body and s != header]
            ways = [w for w in ways if w]
            closes = header in blocks[b][2]
            tail = max(ways, key=lambda w: w[0], default=None)
            if tail is None or closes and tail[0] <= (0, 0):
                tail = ((0, 0), []) if closes else None
            best[b] = tail and ((tail[0][0] + weight(b)[0], tail[0][1] + weight(b)[1]), [b] + tail[1])
        return best[b]

    found = walk(header)
    return found[1] if found else sorted(body)


def innermost_loops(assembly, arm):
    """All innermost loops that multiply and add."""
    target = Target(arm)
    found = []
    for name, code, labels in functions(assembly, arm):
        if not any(target.multiply_add.match(i.name) for i in code):
            continue
        blocks = blocks_of(code, labels, target)
        loops = natural_loops(blocks)
        frame_pointer = any(re.search(r"^x29, sp" if arm else r"^(%rsp|-?\d*\(%rsp\)), %rbp", i.operands) and
                            i.name.startswith(("mov", "add") if arm else "lea") or
                            (i.name, i.operands) == ("movq", "%rsp, %rbp") for i in code)

        def weight(b):
            part = code[blocks[b][0]:blocks[b][1]]
            return sum(bool(target.multiply_add.match(i.name)) for i in part), len(part)

        for header, body in loops.items():
            if any(other != header and other in body for other in loops):
                continue
            path = heaviest_path(header, body, blocks, weight)
            loop = Loop(name, [i for b in sorted(body) for i in code[blocks[b][0]:blocks[b][1]]],
                        [i for b in path for i in code[blocks[b][0]:blocks[b][1]]], target, frame_pointer)
            if loop.multiply_adds:
                found.append(loop)
    names = demangled([loop.function for loop in found])
    return [dataclasses.replace(loop, function=names[loop.function]) for loop in found]


def demangled(names):
    names = sorted(set(names))
    output = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, output.splitlines()))
