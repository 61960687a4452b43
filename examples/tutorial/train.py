#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tutorial 2: trains a network to recognise points on a ring, and saves its state dict as ring.npz. Needs PyTorch."""
import pathlib

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))

points = torch.rand(4096, 2) * 3 - 1.5
radius = points.norm(dim=1, keepdim=True)
on_ring = ((radius > .5) & (radius < 1)).float()
optimizer = torch.optim.Adam(model.parameters(), lr=.02)
for _ in range(1500):
    optimizer.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(model(points), on_ring).backward()
    optimizer.step()

state = {name: values.numpy() for name, values in model.state_dict().items()}
np.savez(pathlib.Path(__file__).parent / "ring.npz", **state)  # or torch.save(model.state_dict(), "ring.pt")
print(f"right: {100 * ((model(points) > 0) == (on_ring > 0)).float().mean():.1f} %")
