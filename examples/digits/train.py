#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the network of network.hpp on the UCI handwritten digits and writes the files that the example embeds.

  train.py          train, evaluate, write the three files below to this script's folder
  train.py --check  no training: evaluate digits.weights and compare with the other two files

Everything is little-endian; `n` is the number of held-out images.

  digits.weights   float32[23242]
                   parameters in declaration order. For each convolution (without bias): its weights as PyTorch
                   stores them (OIHW; depthwise [C,1,3,3]), then the batch norm that follows: gamma, beta,
                   mean, variance. The linear layer comes last: weights [out,in], bias. This is the order of
                   state_dict() without num_batches_tracked.
  digits.images    int32 n, uint8[n][64], uint8[n]
                   the held-out set: pixels 0..16 row by row, then the labels
  digits.expected  int32 n, float32[n][10], uint8[n]
                   PyTorch's answers in eval mode and float32: logits (first, so that they are aligned),
                   then the predicted classes

The network's input is pixel / 16, one channel of 8x8. Nothing is tuned on the held-out set: the number of
epochs is fixed, and the last state is written.
"""
import argparse
import math
import pathlib
import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
SPLIT_SEED, TRAIN_SEED = 0, 0
HELD_OUT, EPOCHS, BATCH, RATE = 360, 160, 32, 4e-3
TOLERANCE = 1e-4  # of a logit in --check: other processors may sum in another order


def conv(inputs, outputs, kernel, stride=1, groups=1):
  return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
          nn.BatchNorm2d(outputs)]


def separable(inputs, outputs, stride):
  return [*conv(inputs, inputs, 3, stride, groups=inputs), nn.ReLU6(), *conv(inputs, outputs, 1), nn.ReLU6()]


class InvertedResidual(nn.Sequential):
  def __init__(self, channels, expansion):
    wide = channels * expansion
    super().__init__(*conv(channels, wide, 1), nn.ReLU6(),
                     *conv(wide, wide, 3, groups=wide), nn.ReLU6(),
                     *conv(wide, channels, 1))

  def forward(self, x):
    return x + super().forward(x)


def make_network():
  return nn.Sequential(*conv(1, 16, 3), nn.ReLU6(), *separable(16, 32, 1), *separable(32, 64, 2),
                       InvertedResidual(64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def load_split():
  """Training images and labels, held-out images and labels; images are uint8 [n,64]."""
  pixels, labels = load_digits(return_X_y=True)
  train_x, test_x, train_y, test_y = train_test_split(
      pixels.astype(np.uint8), labels.astype(np.uint8), test_size=HELD_OUT, stratify=labels,
      random_state=SPLIT_SEED)
  return train_x, train_y, test_x, test_y


def as_input(pixels):
  return torch.from_numpy(pixels.astype(np.float32) / 16).view(-1, 1, 8, 8)


def augment(x):
  """Rotates, scales, shears and shifts every image slightly, and adds mild noise."""
  n = len(x)
  uniform = lambda *size: 2 * torch.rand(*size) - 1
  angle, scale = uniform(n) * math.radians(12), 1 + 0.12 * uniform(n, 2, 1)
  turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], 1).view(n, 2, 2)
  turn[:, 0, 1] += 0.15 * uniform(n)
  shift = 0.25 * uniform(n, 2, 1)  # 2 is the image's width: at most one pixel
  grid = F.affine_grid(torch.cat([turn * scale, shift], 2), x.shape, align_corners=False)
  x = F.grid_sample(x, grid, align_corners=False)
  return (x + 0.03 * torch.randn_like(x)).clamp(0, 1)


def train(pixels, labels):
  torch.manual_seed(TRAIN_SEED)
  x, y = as_input(pixels), torch.from_numpy(labels.astype(np.int64))
  network = make_network()
  optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.02)
  steps = len(x) // BATCH  # an incomplete last batch is dropped: batch norm does not work well on small batches
  schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, EPOCHS * steps, pct_start=0.15)
  for epoch in range(EPOCHS):
    total = 0.0
    for batch in torch.randperm(len(x))[:steps * BATCH].view(steps, BATCH):
      loss = F.cross_entropy(network(augment(x[batch])), y[batch], label_smoothing=0.05)
      optimizer.zero_grad()
      loss.backward()
      optimizer.step()
      schedule.step()
      total += loss.item()
    if epoch % 20 == 19:
      print(f'epoch {epoch + 1:3}  training loss {total / steps:.4f}', flush=True)
  return network


def parameters(network):
  return [v for k, v in network.state_dict().items() if not k.endswith('num_batches_tracked')]


def save_weights(network):
  flat = torch.cat([p.flatten() for p in parameters(network)])
  (HERE / 'digits.weights').write_bytes(flat.numpy().astype('<f4').tobytes())


def load_weights():
  flat = np.fromfile(HERE / 'digits.weights', '<f4')
  network = make_network()
  expected = sum(p.numel() for p in parameters(network))
  if len(flat) != expected:
    sys.exit(f'digits.weights holds {len(flat)} floats, the network has {expected} parameters')
  for p in parameters(network):
    p.copy_(torch.from_numpy(flat[:p.numel()].astype(np.float32)).view_as(p))
    flat = flat[p.numel():]
  return network


def evaluate(network, pixels):
  return network.eval()(as_input(pixels)).numpy()


def images_file(pixels, labels):
  return np.array(len(pixels), '<i4').tobytes() + pixels.tobytes() + labels.tobytes()


def expected_file(logits):
  return (np.array(len(logits), '<i4').tobytes() + logits.astype('<f4').tobytes()
          + logits.argmax(1).astype(np.uint8).tobytes())


def check(pixels, labels, logits):
  """Compares the files on disk with this script's results: images and classes exactly, logits up to rounding."""
  if (HERE / 'digits.images').read_bytes() != images_file(pixels, labels):
    sys.exit('digits.images differs from the held-out set')
  stored, n = (HERE / 'digits.expected').read_bytes(), len(logits)
  if len(stored) != len(expected_file(logits)) or int.from_bytes(stored[:4], 'little') != n:
    sys.exit('digits.expected has the wrong size')
  stored_logits = np.frombuffer(stored, '<f4', n * 10, 4).reshape(n, 10)
  stored_classes = np.frombuffer(stored, np.uint8, n, 4 + n * 40)
  if (stored_classes != logits.argmax(1)).any() or (stored_classes != stored_logits.argmax(1)).any():
    sys.exit('digits.expected: predicted classes differ')
  worst = np.abs(stored_logits - logits).max()
  if not worst <= TOLERANCE:
    sys.exit(f'digits.expected: logits differ by up to {worst:g}')
  print(f'files agree; largest logit difference {worst:g}')


def main():
  options = argparse.ArgumentParser(description='Trains the digits example; see the top of this file.')
  options.add_argument('--check', action='store_true', help='no training, compare the files')
  options = options.parse_args()
  torch.set_num_threads(1)
  torch.use_deterministic_algorithms(True)
  train_x, train_y, test_x, test_y = load_split()
  if not options.check:
    save_weights(train(train_x, train_y))
  with torch.no_grad():
    network = load_weights()  # also after training, to evaluate the file
    logits = evaluate(network, test_x)
  if options.check:
    check(test_x, test_y, logits)
  else:
    (HERE / 'digits.images').write_bytes(images_file(test_x, test_y))
    (HERE / 'digits.expected').write_bytes(expected_file(logits))
  right = int((logits.argmax(1) == test_y).sum())
  print(f'{sum(p.numel() for p in parameters(network))} parameters; '
        f'{right} of {len(test_y)} held-out images right: {100 * right / len(test_y):.2f} %')


if __name__ == '__main__':
  main()
