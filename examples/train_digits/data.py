#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes digits.train, the training set of the UCI handwritten digits, and trains the same network with PyTorch.

  data.py            write digits.train to this script's folder
  data.py --pytorch  train with PyTorch as main.cpp does, for ten seeds, and print the accuracies

digits.train is little-endian: int32 n, uint8[n][64], uint8[n]: pixels 0..16 row by row, then the labels. It is the
complement of ../digits/digits.images, the held-out set.
"""
import argparse
import math
import pathlib
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'digits'))
import train as digits  # noqa: E402  (the network and the split)

EPOCHS, BATCH, RATE = 30, 32, 4e-3


def rate_at(step, steps):
  """Rises linearly in the first tenth, then falls as a cosine."""
  warm = steps / 10
  return RATE * (step + 1) / warm if step < warm else RATE / 2 * (1 + math.cos(math.pi * (step - warm) / (steps - warm)))


def train_with_pytorch(seed, x, y):
  import torch
  from torch.nn import functional as F
  torch.manual_seed(seed)
  network = digits.make_network()
  optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=.01)
  per_epoch = len(x) // BATCH
  for step in range(EPOCHS * per_epoch):
    if step % per_epoch == 0:
      order = torch.randperm(len(x))[:per_epoch * BATCH].view(per_epoch, BATCH)
    for group in optimizer.param_groups:
      group['lr'] = rate_at(step, EPOCHS * per_epoch)
    batch = order[step % per_epoch]
    loss = F.cross_entropy(network(x[batch]), y[batch], label_smoothing=.05)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
  return network


def main():
  options = argparse.ArgumentParser(description='Data and PyTorch reference of this example; see the top of this file.')
  options.add_argument('--pytorch', action='store_true', help='train with PyTorch')
  options = options.parse_args()
  train_x, train_y, test_x, test_y = digits.load_split()
  if not options.pytorch:
    (HERE / 'digits.train').write_bytes(digits.images_file(train_x, train_y))
    return
  import torch
  torch.set_num_threads(1)
  x, y = digits.as_input(train_x), torch.from_numpy(train_y.astype(np.int64))
  accuracies = []
  for seed in range(10):
    start = time.time()
    network = train_with_pytorch(seed, x, y)
    with torch.no_grad():
      right = int((digits.evaluate(network, test_x).argmax(1) == test_y).sum())
    accuracies.append(100 * right / len(test_y))
    print(f'seed {seed}: accuracy {accuracies[-1]:.2f} % in {time.time() - start:.1f} s', flush=True)
  print(f'mean {np.mean(accuracies):.2f} %')


if __name__ == '__main__':
  main()
