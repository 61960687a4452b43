#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the capsule network of network.hpp on the digits of ../digits, with the same held-out images, and writes the
files that the example embeds.

  train_capsules.py          train, evaluate, write the two files below to this script's folder
  train_capsules.py --check  no training: evaluate capsules.weights and compare with the other file
  train_capsules.py --like-cpp  train as train.cpp does, for five seeds, and print the accuracies; no files are written

Everything is little-endian; `n` is the number of held-out images.

  capsules.weights   float32[17216]
                     the parameters in the order of network.hpp, each with the extents that it has there
  capsules.expected  int32 n, float32[n][10], uint8[n]
                     PyTorch's answers in float32: lengths of the class capsules (first, so that they are aligned),
                     then the predicted classes

Nothing is tuned on the held-out set: the number of epochs is fixed, and the last state is written.
"""
import argparse
import pathlib
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'digits'))
sys.path.append(str(HERE.parent / 'train_digits'))
import data  # the rates
import train as digits  # the data and their augmentation

SEED, EPOCHS, BATCH, RATE = 0, 60, 32, 4e-3
ROUTINGS, CLASSES, POSE = 3, 10, 4  # poses are 4 x 4 matrices
TOLERANCE = 1e-5  # of a length in --check: other processors may sum in another order


def squash(x):
  """Shortens poses [..., i, j] to lengths below 1."""
  square = (x * x).sum((-2, -1), keepdim=True)
  return x * (square + 1e-9).sqrt() / (1 + square)


class CapsuleConvolution(nn.Module):
  """Poses x[b, c, h, w, i, l] to y[b, k, p, q, i, j]: the matrix products x * weight[k, c, r, s, l, j], summed."""

  def __init__(self, inputs, outputs, kernel, stride):
    super().__init__()
    self.stride = stride
    scale = 1 / (inputs * kernel * kernel * POSE) ** 0.5
    self.weight = nn.Parameter(2 * scale * torch.randn(outputs, inputs, kernel, kernel, POSE, POSE))
    self.bias = nn.Parameter(0.1 * torch.randn(outputs, POSE, POSE))

  def forward(self, x):
    b, c, h, w = x.shape[:4]
    k = len(self.weight)
    # A convolution of c * l channels for each row i of the poses.
    rows = x.permute(0, 4, 1, 5, 2, 3).reshape(b * POSE, c * POSE, h, w)
    kernels = self.weight.permute(0, 5, 1, 4, 2, 3).flatten(2, 3).flatten(0, 1)
    y = F.conv2d(rows, kernels, stride=self.stride)
    y = y.view(b, POSE, k, POSE, *y.shape[2:]).permute(0, 2, 4, 5, 1, 3)
    return squash(y + self.bias[:, None, None])


class ClassCapsules(nn.Module):
  """Each capsule votes for the pose of each class; routing by agreement (Sabour, Frosst, Hinton 2017)."""

  def __init__(self, capsules):
    super().__init__()
    self.weight = nn.Parameter(0.5 * torch.randn(capsules, CLASSES, POSE, POSE))

  def forward(self, x):
    votes = torch.einsum('bnil,nklj->bnkij', x.flatten(1, 3), self.weight)
    logits = torch.zeros(votes.shape[:3])
    for routing in range(ROUTINGS):
      coupling = logits.softmax(2)
      pose = squash(torch.einsum('bnk,bnkij->bkij', coupling, votes))
      if routing + 1 < ROUTINGS:
        logits = logits + torch.einsum('bnkij,bkij->bnk', votes, pose)
    return ((pose * pose).sum((2, 3)) + 1e-9).sqrt()


class Network(nn.Module):
  def __init__(self):
    super().__init__()
    self.edges = nn.Conv2d(1, 32, 3, padding=1)
    self.primary = CapsuleConvolution(2, 8, 3, 1)   # 8x8 to 6x6
    self.secondary = CapsuleConvolution(8, 8, 3, 2)  # to 2x2
    self.classes = ClassCapsules(8 * 2 * 2)

  def forward(self, x):
    x = F.relu(self.edges(x))
    poses = x.unflatten(1, (2, POSE, POSE)).permute(0, 1, 4, 5, 2, 3)
    return self.classes(self.secondary(self.primary(poses)))


def margin_loss(lengths, labels):
  is_class = F.one_hot(labels, CLASSES)
  missed, wrong = (0.9 - lengths).clamp(min=0), (lengths - 0.1).clamp(min=0)
  return (is_class * missed ** 2 + 0.5 * (1 - is_class) * wrong ** 2).sum(1).mean()


def train(pixels, labels):
  torch.manual_seed(SEED)
  x, y = digits.as_input(pixels), torch.from_numpy(labels.astype(np.int64))
  network = Network()
  optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01)
  steps = len(x) // BATCH
  schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, EPOCHS * steps, pct_start=0.15)
  for epoch in range(EPOCHS):
    total = 0.0
    for batch in torch.randperm(len(x))[:steps * BATCH].view(steps, BATCH):
      loss = margin_loss(network(digits.augment(x[batch])), y[batch])
      optimizer.zero_grad()
      loss.backward()
      optimizer.step()
      schedule.step()
      total += loss.item()
    if epoch % 10 == 9:
      print(f'epoch {epoch + 1:3}  training loss {total / steps:.4f}', flush=True)
  return network


def train_like_cpp(pixels, labels, seed):
  """As train.cpp: fewer epochs, no augmentation, its rates."""
  epochs, per_epoch = 30, len(pixels) // BATCH
  torch.manual_seed(seed)
  x, y = digits.as_input(pixels), torch.from_numpy(labels.astype(np.int64))
  network = Network()
  optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01)
  for step in range(epochs * per_epoch):
    if step % per_epoch == 0:
      order = torch.randperm(len(x))[:per_epoch * BATCH].view(per_epoch, BATCH)
    batch = order[step % per_epoch]
    optimizer.param_groups[0]['lr'] = data.rate_at(step, epochs * per_epoch)
    loss = margin_loss(network(x[batch]), y[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
  return network


def compare_with_cpp(train_x, train_y, test_x, test_y):
  for seed in range(5):
    start = time.time()
    network = train_like_cpp(train_x, train_y, seed)
    seconds = time.time() - start
    with torch.no_grad():
      right = int((network(digits.as_input(test_x)).numpy().argmax(1) == test_y).sum())
    print(f'seed {seed}: accuracy {100 * right / len(test_y):.2f} % in {seconds:.1f} s', flush=True)


def save_weights(network):
  flat = torch.cat([p.flatten() for p in network.parameters()]).detach()
  (HERE / 'capsules.weights').write_bytes(flat.numpy().astype('<f4').tobytes())


def load_weights():
  flat = np.fromfile(HERE / 'capsules.weights', '<f4')
  network = Network()
  expected = sum(p.numel() for p in network.parameters())
  if len(flat) != expected:
    sys.exit(f'capsules.weights holds {len(flat)} floats, the network has {expected} parameters')
  for p in network.parameters():
    p.copy_(torch.from_numpy(flat[:p.numel()].astype(np.float32)).view_as(p))
    flat = flat[p.numel():]
  return network


def expected_file(lengths):
  return (np.array(len(lengths), '<i4').tobytes() + lengths.astype('<f4').tobytes()
          + lengths.argmax(1).astype(np.uint8).tobytes())


def check(lengths):
  """Compares the file on disk with this script's results: classes exactly, lengths up to rounding."""
  stored, n = (HERE / 'capsules.expected').read_bytes(), len(lengths)
  if len(stored) != len(expected_file(lengths)) or int.from_bytes(stored[:4], 'little') != n:
    sys.exit('capsules.expected has the wrong size')
  stored_lengths = np.frombuffer(stored, '<f4', n * CLASSES, 4).reshape(n, CLASSES)
  if (np.frombuffer(stored, np.uint8, n, 4 + n * 4 * CLASSES) != lengths.argmax(1)).any():
    sys.exit('capsules.expected: predicted classes differ')
  worst = np.abs(stored_lengths - lengths).max()
  if not worst <= TOLERANCE:
    sys.exit(f'capsules.expected: lengths differ by up to {worst:g}')
  print(f'files agree; largest difference of a length {worst:g}')


def main():
  options = argparse.ArgumentParser(description='Trains the capsules example; see the top of this file.')
  options.add_argument('--check', action='store_true', help='no training, compare the files')
  options.add_argument('--like-cpp', action='store_true', help='train as train.cpp does, five times')
  options = options.parse_args()
  torch.set_num_threads(1)
  torch.use_deterministic_algorithms(True)
  train_x, train_y, test_x, test_y = digits.load_split()
  if options.like_cpp:
    return compare_with_cpp(train_x, train_y, test_x, test_y)
  if not options.check:
    save_weights(train(train_x, train_y))
  with torch.no_grad():
    network = load_weights()  # also after training, to evaluate the file
    lengths = network(digits.as_input(test_x)).numpy()
  if options.check:
    check(lengths)
  else:
    (HERE / 'capsules.expected').write_bytes(expected_file(lengths))
  right = int((lengths.argmax(1) == test_y).sum())
  best = np.sort(lengths, 1)
  print(f'{sum(p.numel() for p in network.parameters())} parameters; {right} of {len(test_y)} held-out images right: '
        f'{100 * right / len(test_y):.2f} %; the longest capsule leads by {(best[:, -1] - best[:, -2]).min():.1e} or more')


if __name__ == '__main__':
  main()
