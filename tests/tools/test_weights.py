#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests tools/weights.py with invented tables and state dicts. Exit code 77: NumPy is missing."""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import weights  # noqa: E402


def table(*rows):
    """Rows of (name, kind, role, dims), with consecutive offsets."""
    offset, made = 0, []
    for line, (name, kind, role, dims) in enumerate(rows, 1):
        made.append({"name": name, "role": role, "kind": kind, "dims": dims, "offset": offset, "line": line})
        offset += int(np.prod(dims))
    return {"network": "net", "floats": offset, "rows": made}


def linear(name, out, c):
    return (name, "linear", "weight", [out, c]), (name, "bias", "bias", [out])


def layer_norm(name, c):
    return (name, "layer_norm", "gamma", [c]), (name, "layer_norm", "beta", [c])


def batch_norm(name, c):
    return [(name, "batch_norm", role, [c]) for role in ("gamma", "beta", "mean", "variance")]


def entries(*named_shapes):
    """A state dict whose numbers are all different."""
    state, first = {}, 0
    for name, *shape in named_shapes:
        count = int(np.prod(shape))
        state[name] = np.arange(first, first + count, dtype="f4").reshape(shape)
        first += count
    return state


CONV_NORM = table((None, "conv2d", "weight", [2, 3, 3, 3]), *batch_norm(None, 2))
CONV_NORM_STATE = [("0.weight", 2, 3, 3, 3), ("1.weight", 2), ("1.bias", 2), ("1.running_mean", 2),
                   ("1.running_var", 2)]


class Matching(unittest.TestCase):
    def taken(self, made, state, **more):
        """The matched entries, if everything matches."""
        matching = weights.Matching(made["rows"], state, **more)
        self.assertEqual(matching.faults, [])
        self.assertEqual(len(matching.taken), len(made["rows"]))
        return [matching.taken[i][0] for i in range(len(made["rows"]))]

    def faults(self, made, state, **more):
        return weights.Matching(made["rows"], state, **more).faults

    def test_without_names_the_order_decides(self):
        state = entries(*CONV_NORM_STATE)
        self.assertEqual(self.taken(CONV_NORM, state), list(state))
        blob = weights.make_blob(CONV_NORM, weights.Matching(CONV_NORM["rows"], state).taken)
        self.assertEqual(blob.dtype, np.dtype("<f4"))
        self.assertEqual(list(blob), list(range(54 + 8)))

    def test_a_name_decides_against_the_order(self):
        made = table(*linear(None, 4, 3), *layer_norm("norm2", 4), *linear(None, 4, 4), *batch_norm("a.norm", 4))
        state = entries(("norm2.bias", 4), ("norm2.weight", 4), ("0.weight", 4, 3), ("0.bias", 4),
                        ("a.norm.running_var", 4), ("a.norm.running_mean", 4), ("a.norm.bias", 4), ("a.norm.weight", 4),
                        ("1.weight", 4, 4), ("1.bias", 4))
        self.assertEqual(self.taken(made, state),
                         ["0.weight", "0.bias", "norm2.weight", "norm2.bias", "1.weight", "1.bias", "a.norm.weight",
                          "a.norm.bias", "a.norm.running_mean", "a.norm.running_var"])
        blob = weights.make_blob(made, weights.Matching(made["rows"], state).taken)
        self.assertEqual(list(blob[16:24]), [4, 5, 6, 7, 0, 1, 2, 3])

    def test_a_name_of_several_layers_takes_what_is_below_it_in_order(self):
        made = table(*linear("a.1", 3, 3), *linear(None, 3, 3), *linear("a.1", 3, 3), *layer_norm("a.1.norm", 3),
                     *linear("a.10", 3, 3))
        state = entries(("a.1.norm.weight", 3), ("a.1.norm.bias", 3), ("a.10.weight", 3, 3), ("a.10.bias", 3),
                        ("a.1.up.weight", 3, 3), ("a.1.up.bias", 3), ("a.1.down.weight", 3, 3), ("a.1.down.bias", 3),
                        ("a.2.weight", 3, 3), ("a.2.bias", 3))
        self.assertEqual(self.taken(made, state)[::2],
                         ["a.1.up.weight", "a.2.weight", "a.1.down.weight", "a.1.norm.weight", "a.10.weight"])

    def test_a_name_may_be_that_of_an_entry_or_of_its_row(self):
        made = table(("segments.weight[1]", "bias", "bias", [4]), ("token", "bias", "bias", [4]),
                     ("segments.weight[0]", "bias", "bias", [4]))
        state = entries(("token", 1, 1, 4), ("segments.weight", 2, 4))
        self.assertEqual(self.taken(made, state), ["segments.weight[1]", "token", "segments.weight[0]"])
        blob = weights.make_blob(made, weights.Matching(made["rows"], state).taken)
        self.assertEqual(list(blob), [8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7])
        made["rows"][0]["name"] = "segments.weight[2]"
        self.assertEqual(self.faults(made, state), ["missing: segments.weight[2]: bias [4] of line 1"])
        made["rows"][0]["name"] = "sediments.weight[0]"
        self.assertEqual(self.faults(made, state), ["missing: sediments.weight[0]: bias [4] of line 1"])

    def test_extents_of_one_do_not_count(self):
        made = table((None, "pointwise", "weight", [4, 3, 1, 1]), (None, "linear", "weight", [4, 3]),
                     (None, "bias", "bias", [1]))
        self.taken(made, entries(("a.weight", 4, 3), ("b.weight", 4, 3, 1, 1), ("b.bias",)))

    def test_of_positions_the_first_are_taken(self):
        made = table((None, "positions", "weight", [1, 3, 2]))
        for shape in ((5, 2), (1, 5, 2), (3, 2)):
            matching = weights.Matching(made["rows"], entries(("positions.weight", *shape)))
            self.assertEqual(matching.faults, [])
            self.assertEqual(list(weights.make_blob(made, matching.taken)), list(range(6)))
        for shape in ((2, 2), (2, 5), (6,), (2, 5, 2)):
            self.assertEqual(len(self.faults(made, entries(("positions.weight", *shape)))), 1)
        self.taken(table((None, "positions", "weight", [1, 1, 2])), entries(("positions.weight", 5, 2)))

    def test_positions_of_an_image_are_all_of_them(self):
        made = table((None, "positions", "weight", [2, 3, 4]))
        self.taken(made, entries(("positions", 1, 6, 4)))
        self.taken(made, entries(("positions", 2, 3, 4)))
        self.assertEqual(len(self.faults(made, entries(("positions", 1, 7, 4)))), 1)

    def test_other_parameters_are_never_cut(self):
        self.assertEqual(len(self.faults(table((None, "bias", "bias", [4])), entries(("bias", 2, 4)))), 1)
        self.assertEqual(len(self.faults(table((None, "embedding", "weight", [4, 2])), entries(("weight", 5, 2)))), 1)

    def test_another_shape_is_reported_by_name(self):
        state = entries(*CONV_NORM_STATE)
        state["0.weight"] = np.zeros((2, 3, 5, 5), "f4")
        self.assertEqual(self.faults(CONV_NORM, state), [
            "does not fit: conv2d weight [2, 3, 3, 3] of line 1 and the entry 0.weight [2, 3, 5, 5]"])

    def test_another_role_is_reported(self):
        made = table(*layer_norm(None, 4))
        faults = self.faults(made, entries(("norm.bias", 4), ("norm.weight", 4)))
        self.assertEqual(len(faults), 2)
        self.assertEqual(self.taken(made, entries(("norm.scale", 4), ("norm.shift", 4))), ["norm.scale", "norm.shift"])

    def test_one_too_few_is_one_fault(self):
        made = table(*linear(None, 4, 3), *linear(None, 5, 4), *linear(None, 6, 5))
        state = entries(("0.weight", 4, 3), ("0.bias", 4), ("1.weight", 5, 4), ("2.weight", 6, 5), ("2.bias", 6))
        self.assertEqual(self.faults(made, state), ["missing: bias [5] of line 4"])

    def test_one_too_many_is_one_fault(self):
        state = entries(*CONV_NORM_STATE[:1], ("0.bias", 2), *CONV_NORM_STATE[1:], ("head.weight", 7, 2))
        self.assertEqual(self.faults(CONV_NORM, state), ["left over: the entry 0.bias [2]",
                                                         "left over: the entry head.weight [7, 2]"])

    def test_what_is_below_a_name_stays_there(self):
        made = table(*linear("a", 3, 3), *linear(None, 3, 3))
        state = entries(("a.0.weight", 3, 3), ("a.0.bias", 3), ("a.1.weight", 3, 3), ("a.1.bias", 3))
        self.assertEqual(sorted(self.faults(made, state)), [
            "left over: the entry a.1.bias [3]", "left over: the entry a.1.weight [3, 3]",
            "missing: bias [3] of line 4", "missing: linear weight [3, 3] of line 3"])

    def test_a_name_that_is_not_there_is_reported(self):
        made = table(*layer_norm("encoders.0.norm", 4))
        self.assertEqual(self.faults(made, entries(("layers.0.norm.weight", 4), ("layers.0.norm.bias", 4))), [
            "missing: encoders.0.norm: layer_norm gamma [4] of line 1",
            "missing: encoders.0.norm: layer_norm beta [4] of line 2",
            "left over: the entry layers.0.norm.weight [4]", "left over: the entry layers.0.norm.bias [4]"])

    def test_a_recurrent_module_is_its_products_in_order(self):
        for cell, layer in (("gru", "_l0"), ("cell", "")):
            made = table(*linear(None, 3, 3), *linear(None, 9, 3), *linear(None, 9, 3), *linear(None, 2, 3))
            state = entries(("in.weight", 3, 3), ("in.bias", 3), (f"{cell}.weight_ih{layer}", 9, 3),
                            (f"{cell}.weight_hh{layer}", 9, 3), (f"{cell}.bias_ih{layer}", 9), (f"{cell}.bias_hh{layer}", 9),
                            ("out.weight", 2, 3), ("out.bias", 2))
            self.assertEqual(self.taken(made, state)[2:6], [f"{cell}.{x}{layer}" for x in (
                "weight_ih", "bias_ih", "weight_hh", "bias_hh")])
            del state[f"{cell}.bias_hh{layer}"]
            self.assertEqual(self.faults(made, state), ["missing: bias [9] of line 6"])

    def test_biases_of_recurrent_modules_may_be_layers_of_their_own(self):
        made = table((None, "linear", "weight", [6, 1]), (None, "linear", "weight", [6, 2]),
                     (None, "bias", "bias", [6]), (None, "bias", "bias", [6]))
        state = entries(("weight_ih_l0", 6, 1), ("weight_hh_l0", 6, 2), ("bias_ih_l0", 6), ("bias_hh_l0", 6))
        self.assertEqual(self.taken(made, state), list(state))
        self.assertEqual(self.taken(table(*linear(None, 6, 1), *linear(None, 6, 2)), state)[1], "bias_ih_l0")

    def test_products_of_recurrent_modules_have_names(self):
        made = table(*linear("gru.hh_l1", 9, 3), *linear("gru.ih_l1", 9, 3), *linear("ih_l0_reverse", 9, 3))
        state = entries(("gru.bias_hh_l1", 9), ("gru.weight_hh_l1", 9, 3), ("gru.weight_ih_l1", 9, 3),
                        ("gru.bias_ih_l1", 9), ("bias_ih_l0_reverse", 9), ("weight_ih_l0_reverse", 9, 3))
        self.assertEqual(self.taken(made, state, ordered=False), [
            "gru.weight_hh_l1", "gru.bias_hh_l1", "gru.weight_ih_l1", "gru.bias_ih_l1", "weight_ih_l0_reverse",
            "bias_ih_l0_reverse"])

    def test_integers_are_no_weights(self):
        faults = self.faults(table((None, "bias", "bias", [4])), {"bias": np.zeros(4, "i8")})
        self.assertEqual(faults, ["does not fit: bias [4] of line 1 and the entry bias [4] of int64"])

    def test_without_an_order_all_layers_need_names(self):
        made = table(*linear("b", 3, 3), *linear("a", 3, 3))
        state = entries(("a.bias", 3), ("a.weight", 3, 3), ("b.bias", 3), ("b.weight", 3, 3))
        self.assertEqual(self.taken(made, state, ordered=False), ["b.weight", "b.bias", "a.weight", "a.bias"])
        faults = self.faults(table(*linear(None, 3, 3), *linear("a", 3, 3)), state, ordered=False)
        self.assertEqual(len(faults), 1)
        self.assertIn("does not keep the order", faults[0])


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "table.json").write_text(json.dumps(CONV_NORM))

    def run_program(self, state, *options):
        """Exit code, standard output, standard error, the blob or None."""
        arguments = ["weights.py", str(self.folder / "table.json"), str(self.folder / state),
                     str(self.folder / "blob"), *options]
        out, err = io.StringIO(), io.StringIO()
        with unittest.mock.patch("sys.argv", arguments), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(err):
            try:
                code = weights.main()
            except SystemExit as stop:
                code = stop.code
        blob = self.folder / "blob"
        return code, out.getvalue(), err.getvalue(), blob.read_bytes() if blob.exists() else None

    def save(self, state):
        np.savez(self.folder / "state.npz", **state)

    def test_writes_a_blob_of_little_endian_floats(self):
        self.save(entries(*CONV_NORM_STATE))
        code, out, err, blob = self.run_program("state.npz")
        self.assertEqual((code, out, err), (0, "", ""))
        self.assertEqual(blob, np.arange(62, dtype="<f4").tobytes())

    def test_doubles_and_halves_become_floats(self):
        for kind in ("<f2", ">f4", "<f8"):
            self.save({name: x.astype(kind) for name, x in entries(*CONV_NORM_STATE).items()})
            self.assertEqual(self.run_program("state.npz")[3], np.arange(62, dtype="<f4").tobytes())

    def test_lists_who_takes_what(self):
        self.save(entries(*CONV_NORM_STATE))
        out = self.run_program("state.npz", "--list")[1].splitlines()
        self.assertEqual(len(out), 5)
        self.assertEqual(out[4], "batch_norm variance [2] of line 5 <- 1.running_var")

    def test_counters_of_batches_are_ignored_and_what_is_said(self):
        state = entries(*CONV_NORM_STATE, ("head.weight", 2, 2))
        self.save({"1.num_batches_tracked": np.array(3), **state})
        self.assertEqual(self.run_program("state.npz")[0], 2)
        self.assertEqual(self.run_program("state.npz", "--ignore", "head.*")[0], 0)

    def test_a_prefix_is_taken_off(self):
        (self.folder / "table.json").write_text(json.dumps(table(*layer_norm("norm", 2))))
        self.save(entries(("norm.weight", 3), ("module.norm.weight", 2), ("module.norm.bias", 2)))
        self.assertEqual(self.run_program("state.npz", "--prefix", "module.")[2:], ("", np.arange(3, 7, dtype="<f4").tobytes()))

    def test_writes_nothing_if_something_is_wrong(self):
        self.save(entries(*CONV_NORM_STATE[:-1]))
        code, out, err, blob = self.run_program("state.npz")
        self.assertEqual((code, out, blob), (2, "", None))
        self.assertEqual(err, "missing: batch_norm variance [2] of line 5\nnet: 1 faults, nothing written\n")

    def test_without_numpy_or_torch_a_sentence_says_so(self):
        """-S: without the folders that contain the packages."""
        program = pathlib.Path(weights.__file__)
        without = subprocess.run([sys.executable, "-S", "-E", program, "table.json", "state.npz", "blob"], text=True,
                                 stderr=subprocess.PIPE)
        self.assertEqual(without.returncode, 2)
        self.assertRegex(without.stderr, "error: NumPy is needed, .*python3-numpy")
        self.assertNotIn("Traceback", without.stderr)
        with unittest.mock.patch.dict("sys.modules", {"torch": None}):
            code, _, err, _ = self.run_program("state.pt")
        self.assertEqual(code, 2)
        self.assertRegex(err, "state.pt: reading it needs PyTorch")

    def test_says_which_file_cannot_be_read(self):
        for name, content in (("absent.npz", None), ("broken.npz", b"PK"), ("state.h5", b""), ("x.safetensors", b"")):
            if content is not None:
                (self.folder / name).write_bytes(content)
            code, _, err, blob = self.run_program(name)
            self.assertEqual((code, blob), (2, None))
            self.assertIn(name, err)
        (self.folder / "table.json").write_text("{}")
        self.save({})
        code, _, err, blob = self.run_program("state.npz")
        self.assertEqual((code, blob), (2, None))
        self.assertIn("table.json", err)

    def test_reads_safetensors(self):
        made = table(*linear("a", 2, 1), ("b", "bias", "bias", [2]))
        (self.folder / "table.json").write_text(json.dumps(made))
        header = {"__metadata__": {"format": "pt"},
                  "b.bias": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]},
                  "a.bias": {"dtype": "F16", "shape": [2], "data_offsets": [4, 8]},
                  "a.weight": {"dtype": "F32", "shape": [2, 1], "data_offsets": [8, 16]}}
        text = json.dumps(header).encode()
        upper_halves = (np.array([1.5, -2], "<f4").view("<u4") >> 16).astype("<u2")
        data = upper_halves.tobytes() + np.array([3, 4.5], "<f2").tobytes() + np.array([5, 6], "<f4").tobytes()
        (self.folder / "state.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
        code, _, err, blob = self.run_program("state.safetensors")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(list(np.frombuffer(blob, "<f4")), [5, 6, 3, 4.5, 1.5, -2])


if __name__ == "__main__":
    unittest.main()
