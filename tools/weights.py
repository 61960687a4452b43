#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts a PyTorch state dict to the weight blob of a network.

TABLE  the output of ago::write_parameters
STATE  .pt or .pth: a state dict, or a checkpoint that contains one as "state_dict", "model_state_dict" or "model";
       .npz: arrays, saved in the order of a state dict; .safetensors
BLOB   the file to write: float32, little-endian, in the order of the table

A name in the table is the path of a module: its parameters take the entries under that path, except those under a
longer name. Parameters without a name take the entries that are under no name. Among these entries, the layer's
weight (gamma) is NAME.weight, its bias (beta) NAME.bias, its mean NAME.running_mean, its variance NAME.running_var.
If there is no such entry, because several layers share the name, parameters and entries are matched in order.
A name may also be that of an entry, or of one of its rows: "segments.weight[0]". The products of a recurrent module count
as modules, "gru.ih_l0" with the entries gru.weight_ih_l0 and gru.bias_ih_l0, in the order of their weights.

Shapes must agree up to extents of 1. A table of positions may be longer than the tokens of the network: its first rows
are used. Entries named num_batches_tracked are ignored. If anything is missing, left over or has another shape,
all of it is reported, nothing is written, and the exit code is 2.

example:
  build/my_parameters > table.json      # int main() { ago::write_parameters<my_network>(std::cout, "my network"); }
  python3 -c 'import torch, torchvision; torch.save(torchvision.models.mobilenet_v2().state_dict(), "state.pt")'
  weights.py table.json state.pt weights.bin
"""
import argparse
import difflib
import fnmatch
import json
import pathlib
import re
import sys

try:
    import numpy as np
except ImportError:
    np = None  # --help works without it

ENTRY = {"weight": "weight", "gamma": "weight", "bias": "bias", "beta": "bias", "mean": "running_mean",
         "variance": "running_var"}
# Entries of PyTorch's recurrent modules: weight_ih_l0, bias_hh_l1_reverse, those of cells without a layer.
RECURRENT = re.compile(r"(weight|bias)_((?:ih|hh|hr)(?:_l\d+)?(?:_reverse)?)")


# State dicts: name -> array, in order

def read_torch(path):
    try:
        import torch
    except ImportError:
        raise ValueError("reading it needs PyTorch, which this Python does not have (Debian: python3-torch)") from None
    loaded = torch.load(path, map_location="cpu", weights_only=True)
    for key in ("state_dict", "model_state_dict", "model"):
        if isinstance(loaded, dict) and isinstance(loaded.get(key), dict):
            loaded = loaded[key]
    if not isinstance(loaded, dict) or not all(isinstance(x, torch.Tensor) for x in loaded.values()):
        raise ValueError("not a state dict: save model.state_dict()")
    return {name: (x.float() if x.is_floating_point() else x).detach().numpy() for name, x in loaded.items()}


def read_npz(path):
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}


def read_safetensors(path):
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "U8": "<u1"}
    state = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        array = np.frombuffer(data[begin + first:begin + last], types[entry["dtype"]])
        if entry["dtype"] == "BF16":  # the upper half of a float32
            array = (array.astype("<u4") << 16).view("<f4")
        state[name] = array.reshape(entry["shape"])
    return state


READERS = {".pt": read_torch, ".pth": read_torch, ".npz": read_npz, ".safetensors": read_safetensors}


def read_state(path, prefix="", ignored=()):
    """The entries of a file that begin with the prefix, which is removed; without ignored ones."""
    if path.suffix not in READERS:
        raise ValueError(f"not one of {', '.join(READERS)}")
    state = {name[len(prefix):]: x for name, x in READERS[path.suffix](path).items() if name.startswith(prefix)}
    patterns = ["num_batches_tracked", "*.num_batches_tracked", *ignored]
    return {name: x for name, x in state.items() if not any(fnmatch.fnmatchcase(name, p) for p in patterns)}


# One parameter, one entry

def extents(shape):
    return "[" + ", ".join(str(n) for n in shape) + "]"


def describe(row):
    what = row["role"] if row["role"] == row["kind"] else f"{row['kind']} {row['role']}"
    return f"{row['name'] + ': ' if row['name'] else ''}{what} {extents(row['dims'])} of line {row['line']}"


def without_ones(shape):
    return tuple(n for n in shape if n != 1)


def fit(row, array):
    """The numbers that the row takes from an entry, or None if it does not fit."""
    if array.dtype.kind != "f":
        return None
    shape, wanted = without_ones(array.shape), without_ones(row["dims"])
    if shape == wanted:
        return array.ravel()
    if row["kind"] == "positions":
        height, width, channels = row["dims"]
        tokens = height * width
        if len(shape) == 2 and shape[1] == channels and (shape[0] == tokens or height == 1 and shape[0] > tokens):
            return array.reshape(-1, channels)[:tokens].ravel()
    return None


def role_of(name):
    """The last part of an entry's name; for recurrent modules, as if each product were a module: weight or bias."""
    last = name.rpartition(".")[2]
    recurrent = RECURRENT.fullmatch(last)
    return recurrent[1] if recurrent else last


def product_of(name):
    """The product of a recurrent module that an entry belongs to, named like a module: gru.ih_l0; otherwise None."""
    parent, dot, last = name.rpartition(".")
    recurrent = RECURRENT.fullmatch(last)
    return parent + dot + recurrent[2] if recurrent else None


def by_products(names):
    """Moves each bias of a recurrent module after its weight, as in a linear layer: PyTorch lists both weights first."""
    ordered = []
    for name in names:
        product = product_of(name)
        if product is None:
            ordered.append(name)
        elif not any(product_of(n) == product for n in ordered):
            ordered += sorted((n for n in names if product_of(n) == product), key=role_of, reverse=True)
    return ordered


def is_of_role(row, name):
    """Whether an entry may have the row's role. Names other than those of PyTorch's own modules may have any."""
    role = role_of(name)
    return role not in ENTRY.values() or role == ENTRY[row["role"]]


# All of them

class Matching:
    """The entry that each row takes (`taken`: name and numbers, by the row's index), and mismatches (`faults`)."""

    def __init__(self, rows, state, ordered=True):
        self.rows, self.state, self.ordered = rows, state, ordered
        self.taken, self.faults = {}, []
        used = self.match_rows_of_entries()
        scopes = {row["name"] or "": ([], []) for i, row in enumerate(rows) if i not in used}
        for i, row in enumerate(rows):
            if i not in used:
                scopes[row["name"] or ""][0].append(i)
        for name in state:
            if name not in used.values():
                scopes.setdefault(self.scope_of(name, scopes), ([], []))[1].append(name)
        for scope, (places, names) in scopes.items():
            self.match_scope(scope, places, names)

    @staticmethod
    def scope_of(entry, scopes):
        if entry not in scopes and product_of(entry) in scopes:
            return product_of(entry)
        while entry and entry not in scopes:
            entry = entry.rpartition(".")[0]
        return entry

    def take(self, place, name, array):
        row, numbers = self.rows[place], fit(self.rows[place], array)
        if numbers is None:
            kind = "" if array.dtype.kind == "f" else f" of {array.dtype}"
            self.faults.append(f"does not fit: {describe(row)} and the entry {name} {extents(array.shape)}{kind}")
        else:
            self.taken[place] = name, numbers

    def match_rows_of_entries(self):
        """Matches the rows that name a row of an entry; returns the entry for each of their indices."""
        used = {}
        for place, row in enumerate(self.rows):
            indexed = re.fullmatch(r"(.+)\[(\d+)\]", row["name"] or "")
            if not indexed:
                continue
            name, index = indexed[1], int(indexed[2])
            used[place] = name
            array = self.state.get(name)
            if array is None or array.ndim == 0 or index >= array.shape[0]:
                self.faults.append(f"missing: {describe(row)}")
            else:
                self.take(place, row["name"], array[index])
        return used

    def match_scope(self, scope, places, names):
        """Matches the rows of one name with the entries under it."""
        rest, left = [], list(names)
        for place in places:
            role = ENTRY[self.rows[place]["role"]]
            of_product = [n for n in left if product_of(n) == scope and role_of(n) == role]
            exact = [n for n in (f"{scope}.{role}", *of_product, scope) if scope and n in left]
            if exact:
                self.take(place, exact[0], self.state[exact[0]])
                left.remove(exact[0])
            else:
                rest.append(place)
        if not self.ordered and len(rest) > 1 and left:
            self.faults.append(f"{scope or 'parameters without names'}: the file does not keep the order of its entries, "
                               f"so that each layer needs its name, from {describe(self.rows[rest[0]])} on")
        else:
            self.match_in_order(rest, left)

    def match_in_order(self, places, names):
        if not self.all_fit(places, names):
            names = by_products(names)
        if self.all_fit(places, names):
            blocks = [("equal", 0, len(places), 0, len(names))]
        else:  # report as few faults as possible
            wanted = [(without_ones(self.rows[i]["dims"]), ENTRY[self.rows[i]["role"]]) for i in places]
            there = [(without_ones(self.state[n].shape), role_of(n)) for n in names]
            blocks = difflib.SequenceMatcher(None, wanted, there, autojunk=False).get_opcodes()
        for _, i, i_end, k, k_end in blocks:
            if i_end - i == k_end - k:
                for place, name in zip(places[i:i_end], names[k:k_end]):
                    self.pair(place, name)
            else:
                self.faults += [f"missing: {describe(self.rows[place])}" for place in places[i:i_end]]
                self.faults += [f"left over: the entry {n} {extents(self.state[n].shape)}" for n in names[k:k_end]]

    def all_fit(self, places, names):
        return len(places) == len(names) and all(map(self.fits, places, names))

    def fits(self, place, name):
        return is_of_role(self.rows[place], name) and fit(self.rows[place], self.state[name]) is not None

    def pair(self, place, name):
        if is_of_role(self.rows[place], name):
            self.take(place, name, self.state[name])
        else:
            self.faults.append(f"does not fit: {describe(self.rows[place])} and the entry {name}")


def make_blob(table, taken):
    blob = np.zeros(table["floats"], "<f4")
    for place, (_, numbers) in taken.items():
        offset = table["rows"][place]["offset"]
        blob[offset:offset + numbers.size] = numbers
    return blob


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", metavar="TABLE", type=pathlib.Path)
    parser.add_argument("state", metavar="STATE", type=pathlib.Path)
    parser.add_argument("blob", metavar="BLOB", type=pathlib.Path)
    parser.add_argument("--prefix", default="", help='use only entries with this prefix, and remove it: "module."')
    parser.add_argument("--ignore", action="append", default=[], metavar="PATTERN", help='ignore these entries: "head.*"')
    parser.add_argument("--list", action="store_true", help="print which entry each parameter takes")
    options = parser.parse_args()
    if np is None:
        parser.error(f"NumPy is needed, but {sys.executable} does not have it (Debian: python3-numpy)")
    try:
        table = json.loads(options.table.read_text())
        rows = table["rows"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"{options.table}: not a table of parameters: {error}")
    try:
        state = read_state(options.state, options.prefix, options.ignore)
    except Exception as error:  # the readers raise anything for damaged or foreign files
        parser.error(f"{options.state}: {error}")
    matching = Matching(rows, state, ordered=options.state.suffix != ".safetensors")
    if options.list:
        for place, (name, _) in sorted(matching.taken.items()):
            print(f"{describe(rows[place])} <- {name}")
    if matching.faults:
        print(*matching.faults, f"{table['network']}: {len(matching.faults)} faults, nothing written", sep="\n",
              file=sys.stderr)
        return 2
    try:
        make_blob(table, matching.taken).tofile(options.blob)
    except OSError as error:
        parser.error(f"{options.blob}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
