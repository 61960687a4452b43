#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the networks of networks.hpp with PyTorch, in double precision, and writes their losses to pytorch.hpp;
gradients of ShuffleNet-V2 to pytorch_gradients.hpp."""
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / 'bench/training'))
import peer  # pylint: disable=wrong-import-position
STEPS = 100


class Random:
  """The generator of networks.hpp."""
  def __init__(self, seed):
    self.state = seed

  def next(self):
    self.state = (1664525 * self.state + 1013904223) % 2**32
    return self.state >> 8

  def values(self, *shape):
    count = 1
    for n in shape:
      count *= n
    return torch.tensor([self.next() / 2**23 - 1 for _ in range(count)], dtype=torch.float64).view(*shape)


class MultiplyConstantTokens(nn.Module):
  """Attention of one head without projections, as the network of layers in networks.hpp."""
  def forward(self, x):
    return F.softmax(x @ x.transpose(1, 2), -1) @ x


def fill(network, random):
  """Parameters in declaration order; weights within 1 / sqrt(fan in)."""
  for name, p in network.state_dict().items():
    if name.endswith('num_batches_tracked'):
      continue
    values = random.values(*p.shape)
    if name.endswith('running_var'):
      values = 1 + .5 * values
    elif p.dim() > 1:
      values = values / (p.numel() / p.shape[0]) ** .5
    elif name.endswith('weight'):
      values = 1 + .5 * values
    p.copy_(values)


class Residual(nn.Module):
  def __init__(self, *layers):
    super().__init__()
    self.layers = nn.Sequential(*layers)

  def forward(self, x):
    return x + self.layers(x)


class MiLstm(nn.Module):
  """The last output of mi_lstm in examples/train_sequence/network.hpp, for x [n, steps, inputs]."""
  def __init__(self, inputs, units):
    super().__init__()
    self.w = nn.Parameter(torch.empty(4 * units, inputs))
    self.u = nn.Parameter(torch.empty(1, 1, 4 * units, units))
    for name in ('alpha', 'beta1', 'beta2', 'b'):
      setattr(self, name, nn.Parameter(torch.empty(1, 1, 1, 4 * units)))

  def forward(self, x):
    u, alpha, beta1, beta2, b = self.u[0, 0], *(p.flatten() for p in (self.alpha, self.beta1, self.beta2, self.b))
    h = c = torch.zeros(len(x), u.shape[1])
    for t in range(x.shape[1]):
      wx, uh = x[:, t] @ self.w.T, h @ u.T
      i, f, o, z = (alpha * wx * uh + beta1 * uh + beta2 * wx + b).chunk(4, 1)
      c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(z)
      h = torch.sigmoid(o) * torch.tanh(c)
    return h


def recurrent():
  layers = nn.ModuleDict(dict(lstm=MiLstm(5, 3), linear=nn.Linear(3, 3)))
  layers.forward = lambda x: layers.linear(layers.lstm(x))
  return layers


def perceptron():
  return nn.Sequential(nn.Flatten(), nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 9), nn.Tanh(), nn.Linear(9, 4))


def convolutional():
  return nn.Sequential(
      nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(),
      nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
      nn.Conv2d(8, 12, 1), nn.MaxPool2d(2), nn.Conv2d(12, 6, 3, padding=1, groups=3), nn.LeakyReLU(.1),
      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 5))


def functions():
  return nn.Sequential(
      nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), Residual(nn.Linear(8, 8), nn.Sigmoid()), MultiplyConstantTokens(),
      nn.Linear(8, 7), nn.SiLU(), nn.Softmax(-1), nn.Linear(7, 3))


def strided():
  return nn.Sequential(
      nn.Conv2d(2, 6, 5, (2, 3), (1, 2), (2, 1)), nn.Hardswish(), nn.AvgPool2d(3, 2, 1),
      nn.ConvTranspose2d(6, 4, 3, 2, 1), nn.PReLU(4), nn.Conv2d(4, 2, 2))


def cross_entropy(y, target):
  return F.cross_entropy(y, target)


def smoothed_cross_entropy(y, target):
  return F.cross_entropy(y, target, label_smoothing=.1)


def binary_cross_entropy(y, target):
  return F.binary_cross_entropy_with_logits(y, target)


def huber(y, target):
  return F.huber_loss(y, target, delta=.5)


# name, network, input, output, classes, loss, optimizer, its arguments, the largest norm of a gradient
CASES = [
    ('perceptron', perceptron, (8, 12, 1, 1), (8,), 4, cross_entropy, torch.optim.SGD,
     dict(lr=.05, momentum=.9, weight_decay=.01, nesterov=True), 0),
    ('convolutional', convolutional, (4, 3, 9, 9), (4,), 5, smoothed_cross_entropy, torch.optim.AdamW, dict(lr=.01), 0),
    ('functions', functions, (2, 5, 6), (2, 5, 3), 0, F.mse_loss, torch.optim.Adam, dict(lr=.01, weight_decay=.01), .3),
    ('strided', strided, (2, 2, 13, 14), None, 0, huber, torch.optim.RMSprop, dict(lr=.002, momentum=.5), 0),
    ('strided_binary', strided, (2, 2, 13, 14), None, 0, binary_cross_entropy, torch.optim.SGD, dict(lr=.05), 0),
    ('perceptron_absolute', perceptron, (8, 12, 1, 1), (8, 4), 0, F.l1_loss, torch.optim.SGD,
     dict(lr=.01, momentum=.5), 0),
    ('recurrent', recurrent, (3, 3, 5), (3,), 3, cross_entropy, torch.optim.SGD, dict(lr=.1, momentum=.9), 0),
]


def channels_last(x):
  return x.permute(0, 2, 3, 1) if x.dim() == 4 else x


def write_gradients():
  """Of each row of parameters, the slope where all change by as much, up or down, and the norm."""
  random = Random(1)
  network = peer.shufflenet_v2()
  with torch.no_grad():
    fill(network, random)
    for p in network.state_dict().values():
      if p.is_floating_point():
        p.copy_(p.float())
  network.train()
  x = random.values(2, 64, 64, 3).permute(0, 3, 1, 2)
  target = torch.tensor([random.next() % 1000 for _ in range(2)])
  loss = F.cross_entropy(network(x), target)
  loss.backward()
  lines, largest = [], 0
  for p in network.parameters():
    g = p.grad.flatten()
    signs = torch.tensor([1. if random.next() % 2 else -1. for _ in range(g.numel())])
    largest = max(largest, g.abs().max().item())
    lines.append(f'    {{{(g @ signs).item():.12g}, {g.norm().item():.12g}}},')
  (HERE / 'pytorch_gradients.hpp').write_text('\n'.join([
      '// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception',
      '// Generated by reference.py: gradients of PyTorch in double precision; see shufflenet_v2.cpp.', '#pragma once', '',
      'namespace pytorch {', '', f'inline constexpr double shufflenet_loss = {loss.item():.12g};',
      f'inline constexpr double shufflenet_largest = {largest:.12g};',
      'inline constexpr double shufflenet_gradients[][2] = {', *lines, '};', '', '}  // namespace pytorch', '']))


def main():
  torch.set_default_dtype(torch.float64)
  write_gradients()
  lines = ['// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception',
           '// Generated by reference.py: losses of PyTorch and the last parameters, in double precision.', '#pragma once',
           '', 'namespace pytorch {', '']
  for number, (name, make, shape, out, classes, loss_of, optimizer, arguments, clip) in enumerate(CASES):
    random = Random(number + 1)
    network = make()
    with torch.no_grad():
      fill(network, random)
    network.train()
    steps = optimizer(network.parameters(), **arguments)
    losses = []
    for _ in range(STEPS):
      x = random.values(*shape) if len(shape) < 4 else random.values(shape[0], *shape[2:], shape[1]).permute(0, 3, 1, 2)
      if classes:
        target = torch.tensor([random.next() % classes for _ in range(out[0])])
      else:
        with torch.no_grad():
          like = network.eval()(x)
          network.train()
        target = channels_last(torch.empty(like.shape))
        target = random.values(*target.shape)
        if like.dim() == 4:
          target = target.permute(0, 3, 1, 2)
        if loss_of is binary_cross_entropy:
          target = target / 2 + .5
      loss = loss_of(network(x), target)
      steps.zero_grad()
      loss.backward()
      if clip:
        nn.utils.clip_grad_norm_(network.parameters(), clip)
      steps.step()
      losses.append(loss.item())
    last = torch.cat([p.flatten() for k, p in network.state_dict().items() if not k.endswith('num_batches_tracked')])
    for what, values in (('losses', losses), ('parameters', last.tolist())):
      lines.append(f'inline constexpr double {name}_{what}[] = {{')
      text = ', '.join(f'{v:.6g}' for v in values)
      while len(text) > 114:
        cut = text.rfind(' ', 0, 114)
        lines.append('    ' + text[:cut])
        text = text[cut + 1:]
      lines += ['    ' + text + '};']
  lines += ['', '}  // namespace pytorch', '']
  (HERE / 'pytorch.hpp').write_text('\n'.join(lines))


if __name__ == '__main__':
  main()
