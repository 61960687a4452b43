#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a network of examples/networks as an ONNX model, with parameters from a file.

    export_onnx.py NETWORK SIZE PARAMETERS MODEL    PARAMETERS: float32 in the order in which ago's layers declare them;
                                                    -: PyTorch's initial parameters
    export_onnx.py --check                          checks that everything needed is installed

Needs PyTorch and torchvision (written with 1.13 and 0.14). Images are NCHW in the model.
"""
import pathlib
import sys
import warnings

try:
    import numpy as np
    import torch
    import torchvision
except ImportError as missing:
    sys.exit(str(missing))

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "networks"))
import transformers  # noqa: E402  (the test's own: BERT-tiny and MobileViT-S)

models = torchvision.models
# How each network is built, and the extents of its input at a size.
IMAGES, TOKENS = (lambda size: (1, 3, size, size)), (lambda size: (1, size, 128))
NETWORKS = {
    "bert_tiny": (transformers.BertTiny, TOKENS),
    "mnasnet": (lambda: models.mnasnet1_0(weights=None), IMAGES),
    "mobilenet_v2": (lambda: models.mobilenet_v2(weights=None), IMAGES),
    "mobilevit_s": (transformers.MobileVitS, IMAGES),
    "shufflenet_v2": (lambda: models.shufflenet_v2_x1_0(weights=None), IMAGES),
    "squeezenet": (lambda: models.squeezenet1_1(weights=None), IMAGES),
}
OPSET = 17  # the first with layer normalisation as one operator


def fill(network, parameters):
    """Sets all parameters and running statistics from one array."""
    offset = 0
    for name, tensor in network.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        values = parameters[offset:offset + tensor.numel()]
        if len(values) == tensor.numel():
            tensor.copy_(torch.from_numpy(values).reshape(tensor.shape))
        offset += tensor.numel()
    if offset != len(parameters):
        sys.exit(f"{len(parameters)} parameters, but PyTorch's network has {offset}")


def main():
    if sys.argv[1:] == ["--check"]:
        return
    if len(sys.argv) != 5 or sys.argv[1] not in NETWORKS:
        sys.exit(f"usage: export_onnx.py {'|'.join(NETWORKS)} SIZE PARAMETERS MODEL")
    name, size, parameters, model = sys.argv[1:]
    torch.set_num_threads(1)
    build, extents = NETWORKS[name]
    network = build().eval()
    if parameters != "-":
        fill(network, np.fromfile(parameters, np.float32))
    warnings.simplefilter("ignore")  # tracing warns that shapes become constants, which they are
    torch.onnx.export(network, torch.zeros(extents(int(size))), model, opset_version=OPSET, input_names=["in"],
                      output_names=["out"])


if __name__ == "__main__":
    main()
