#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains and runs the networks of bench/training with PyTorch, on one thread, with channels last in memory.

Reads lines and answers each with "ok ..." or "error ...":

  version                      PyTorch's version
  load NETWORK BATCH FOLDER    reads parameters, input and targets: files of FOLDER, float32 in the order of ago
  gradients FOLDER             the largest differences between the gradients of double precision and those of ago
                               (a file of FOLDER), and of PyTorch's float32, as parts of the largest gradient
  losses COUNT                 the losses of so many training steps
  step COUNT                   nanoseconds of a training step, the mean of so many
  backward COUNT               nanoseconds of forward and backward, likewise
  infer COUNT                  nanoseconds of an inference, likewise

usage: peer.py RATE MOMENTUM     (of stochastic gradient descent)
"""
import array
import copy
import pathlib
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class PixelMajor(nn.Module):
  """Flattens an image whose channels are last, without a copy."""
  def forward(self, x):
    return x.permute(0, 2, 3, 1).flatten(1)


class Residual(nn.Sequential):
  def forward(self, x):
    return x + super().forward(x)


def norm(*layers):
  return [*layers, nn.BatchNorm2d(layers[-1].out_channels)]


def depthwise(channels, stride=1):
  return norm(nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False))


def pointwise(inputs, outputs):
  return norm(nn.Conv2d(inputs, outputs, 1, bias=False))


def separable(inputs, outputs, stride):
  return [*depthwise(inputs, stride), nn.ReLU6(), *pointwise(inputs, outputs), nn.ReLU6()]


class Squash(nn.Module):
  """Shortens poses [b, k, j, p, q] to lengths below 1; the result is [b, k * p * q * j]."""
  def forward(self, x):
    x = x.unflatten(1, (32, 8))
    square = (x * x).sum(2, keepdim=True)
    return (x * ((square + 1e-9).sqrt() / (1 + square))).permute(0, 1, 3, 4, 2).flatten(1)


class Recurrent(nn.Module):
  """The last output of a cell for the rows of images [b, 1, steps, c], from a state that is 0."""
  def __init__(self, **shapes):
    super().__init__()
    for name, shape in shapes.items():
      self.register_parameter(name, nn.Parameter(torch.zeros(shape)))

  def forward(self, x):
    return self.last(x.squeeze(1))


class MiLstm(Recurrent):
  def __init__(self, c, units):
    gates = 4 * units
    super().__init__(w=(gates, c), u=(gates, units), alpha=gates, beta1=gates, beta2=gates, b=gates)

  def last(self, x):
    all_wx = F.linear(x, self.w)
    h = c = None
    for t in range(x.shape[1]):
      wx = all_wx[:, t]
      gates = wx * self.beta2 + self.b
      if h is not None:
        uh = F.linear(h, self.u)
        gates = gates + self.alpha * wx * uh + self.beta1 * uh
      i, f, o, z = gates.chunk(4, 1)
      entering = i.sigmoid() * z.tanh()
      c = entering if c is None else f.sigmoid() * c + entering
      h = o.sigmoid() * c.tanh()
    return h


class ScRnn(Recurrent):
  def __init__(self, c, units, context):
    super().__init__(a=(units, c), b=(context, c), p=(units, context), r=(units, units))

  def last(self, x):
    all_a, all_b = F.linear(x, self.a), F.linear(x, self.b)
    h = s = None
    for t in range(x.shape[1]):
      entering = (1 - .95) * all_b[:, t]
      s = entering if s is None else torch.add(entering, s, alpha=.95)
      gates = all_a[:, t] + F.linear(s, self.p)
      h = (gates if h is None else gates + F.linear(h, self.r)).sigmoid()
    return torch.cat((h, s), 1)


class Gated(Recurrent):
  """A cell whose sums are linear in the input and the last output: step(sums, c) is the output and the next state."""
  gates = 4

  def __init__(self, c, units):
    super().__init__(w=(self.gates * units, c), b=self.gates * units, u=(self.gates * units, units))

  def last(self, x):
    all_wx = F.linear(x, self.w, self.b)
    h = c = None
    for t in range(x.shape[1]):
      sums = all_wx[:, t] if h is None else all_wx[:, t] + F.linear(h, self.u)
      h, c = self.step(sums, c)
    return h


class SubLstm(Gated):
  def step(self, sums, c):
    i, f, o, z = sums.sigmoid().chunk(4, 1)
    c = z - i if c is None else f * c + z - i
    return c.sigmoid() - o, c


class Lltm(Gated):
  gates = 3

  def step(self, sums, c):
    i, o, z = sums.chunk(3, 1)
    entering = F.elu(z) * i.sigmoid()
    c = entering if c is None else c + entering
    return c.tanh() * o.sigmoid(), c


def mlp():
  return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


def lenet5():
  return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                       nn.MaxPool2d(2), PixelMajor(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                       nn.Linear(84, 10))


def digits():
  return nn.Sequential(
      *norm(nn.Conv2d(1, 16, 3, 1, 1, bias=False)), nn.ReLU6(), *separable(16, 32, 1), *separable(32, 64, 2),
      Residual(*pointwise(64, 128), nn.ReLU6(), *depthwise(128), nn.ReLU6(), *pointwise(128, 64)),
      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def primary_capsules():
  return nn.Sequential(nn.Conv2d(1, 256, 9), nn.ReLU(), nn.Conv2d(256, 256, 9, 2, bias=False), Squash())


def inverted_residual(inputs, expand, outputs, stride):
  wide = expand * inputs
  layers = [*pointwise(inputs, wide), nn.ReLU6()] if expand > 1 else []
  layers += [*depthwise(wide, stride), nn.ReLU6(), *pointwise(wide, outputs)]
  return (Residual if stride == 1 and inputs == outputs else nn.Sequential)(*layers)


def mobilenet_v2():
  layers, channels = [*norm(nn.Conv2d(3, 32, 3, 2, 1, bias=False)), nn.ReLU6()], 32
  for expand, outputs, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                         (6, 160, 3, 2), (6, 320, 1, 1)):
    for i in range(count):
      layers.append(inverted_residual(channels, expand, outputs, stride if i == 0 else 1))
      channels = outputs
  return nn.Sequential(*layers, *pointwise(channels, 1280), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                       nn.Linear(1280, 1000))


class ShuffleUnit(nn.Module):
  """Half of the channels pass, or go through a branch of their own if the image is halved; then all are shuffled."""
  def __init__(self, inputs, outputs, stride):
    super().__init__()
    half = outputs // 2
    self.first = nn.Sequential(*depthwise(inputs, 2), *pointwise(inputs, half), nn.ReLU()) if stride == 2 else None
    self.second = nn.Sequential(*pointwise(inputs if stride == 2 else half, half), nn.ReLU(), *depthwise(half, stride),
                                *pointwise(half, half), nn.ReLU())

  def forward(self, x):
    left, right = (self.first(x), x) if self.first else x.chunk(2, 1)
    x = torch.cat((left, self.second(right)), 1)
    return x.unflatten(1, (2, x.shape[1] // 2)).transpose(1, 2).flatten(1, 2)


def shufflenet_v2():
  layers, channels = [*norm(nn.Conv2d(3, 24, 3, 2, 1, bias=False)), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 24
  for outputs, count in ((116, 4), (232, 8), (464, 4)):
    for i in range(count):
      layers.append(ShuffleUnit(channels, outputs, 2 if i == 0 else 1))
      channels = outputs
  return nn.Sequential(*layers, *pointwise(channels, 1024), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                       nn.Linear(1024, 1000))


class Bottleneck(nn.Module):
  def __init__(self, inputs, middle, stride):
    super().__init__()
    self.branch = nn.Sequential(*pointwise(inputs, middle), nn.ReLU(),
                                *norm(nn.Conv2d(middle, middle, 3, stride, 1, bias=False)), nn.ReLU(),
                                *pointwise(middle, 4 * middle))
    self.shortcut = nn.Sequential()
    if inputs != 4 * middle:
      self.shortcut = nn.Sequential(*norm(nn.Conv2d(inputs, 4 * middle, 1, stride, bias=False)))

  def forward(self, x):
    return F.relu(self.branch(x) + self.shortcut(x))


def resnet50():
  layers, channels = [*norm(nn.Conv2d(3, 64, 7, 2, 3, bias=False)), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
  for middle, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
    for i in range(count):
      layers.append(Bottleneck(channels, middle, stride if i == 0 else 1))
      channels = 4 * middle
  return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


class BertLayer(nn.Module):
  def __init__(self, channels, heads, wide):
    super().__init__()
    self.heads = heads
    self.q, self.k, self.v, self.o = (nn.Linear(channels, channels) for _ in range(4))
    self.norm = nn.LayerNorm(channels, 1e-12)
    self.up, self.down = nn.Linear(channels, wide), nn.Linear(wide, channels)
    self.norm2 = nn.LayerNorm(channels, 1e-12)

  def forward(self, x):
    q, k, v = (f(x).unflatten(2, (self.heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
    scores = (q @ k.transpose(2, 3) / q.shape[3] ** .5).softmax(3)
    x = self.norm(x + self.o((scores @ v).transpose(1, 2).flatten(2)))
    return self.norm2(x + self.down(F.gelu(self.up(x)))).flatten(1)


# The network, the shape of an input, and the loss.
NETWORKS = {
    'mlp': (mlp, (64,), F.cross_entropy),
    'lenet5': (lenet5, (28, 28, 1), F.cross_entropy),
    'digits': (digits, (8, 8, 1), F.cross_entropy),
    'mobilenet_v2': (mobilenet_v2, (224, 224, 3), F.cross_entropy),
    'mi_lstm': (lambda: nn.Sequential(MiLstm(28, 128), nn.Linear(128, 10)), (28, 28, 1), F.cross_entropy),
    'sc_rnn': (lambda: nn.Sequential(ScRnn(28, 128, 40), nn.Linear(168, 10)), (28, 28, 1), F.cross_entropy),
    'sub_lstm': (lambda: nn.Sequential(SubLstm(28, 128), nn.Linear(128, 10)), (28, 28, 1), F.cross_entropy),
    'lltm': (lambda: nn.Sequential(Lltm(28, 128), nn.Linear(128, 10)), (28, 28, 1), F.cross_entropy),
    'shufflenet_v2': (shufflenet_v2, (224, 224, 3), F.cross_entropy),
    'resnet50': (resnet50, (224, 224, 3), F.cross_entropy),
    'bert_layer': (lambda: BertLayer(768, 12, 3072), (128, 768), F.mse_loss),
    'primary_capsules': (primary_capsules, (28, 28, 1), F.mse_loss),
}


def read(path):
  return torch.tensor(array.array('f', path.read_bytes()))


class Training:
  def __init__(self, rate, momentum):
    self.options = {'lr': rate, 'momentum': momentum}

  def version(self):
    maps = pathlib.Path('/proc/self/maps')
    if not (maps.exists() and 'openblas' in maps.read_text()):
      raise RuntimeError('OpenBLAS is not loaded')
    return torch.__version__

  def load(self, name, batch, folder):
    make, shape, self.loss_of = NETWORKS[name]
    batch, folder = int(batch), pathlib.Path(folder)
    torch.manual_seed(0)
    self.network = make().to(memory_format=torch.channels_last)
    parameters = read(folder / 'parameters')
    used = 0
    with torch.no_grad():
      for key, p in self.network.state_dict().items():
        if not key.endswith('num_batches_tracked'):
          p.copy_(parameters[used:used + p.numel()].view(p.shape))
          used += p.numel()
    if used != parameters.numel():
      raise ValueError(f'{name} has {used} parameters here, not {parameters.numel()}')
    self.input = read(folder / 'input').view(batch, *shape)
    if len(shape) == 3:
      self.input = self.input.permute(0, 3, 1, 2)
    self.targets = read(folder / 'targets').view(batch, -1)
    if self.loss_of is F.cross_entropy:
      self.targets = self.targets.flatten().long()
    self.optimizer = torch.optim.SGD(self.network.parameters(), **self.options)

  def forward_and_backward(self):
    self.optimizer.zero_grad(set_to_none=True)
    loss = self.loss_of(self.network(self.input), self.targets)
    loss.backward()
    return loss

  def one_step(self):
    loss = self.forward_and_backward()
    self.optimizer.step()
    return loss

  def gradients(self, folder):
    self.network.train()
    exact = copy.deepcopy(self.network).double()
    targets = self.targets.double() if self.targets.is_floating_point() else self.targets
    self.loss_of(exact(self.input.double()), targets).backward()
    rounded = copy.deepcopy(self.network)
    self.loss_of(rounded(self.input), self.targets).backward()
    ours = read(pathlib.Path(folder) / 'gradients').double()
    there, theirs = dict(exact.named_parameters()), dict(rounded.named_parameters())
    used, largest, error, their_error = 0, 0, 0, 0
    for key, p in exact.state_dict().items():
      if key.endswith('num_batches_tracked'):
        continue
      if key in there:
        gradient = there[key].grad.flatten()
        largest = max(largest, gradient.abs().max().item())
        error = max(error, (ours[used:used + p.numel()] - gradient).abs().max().item())
        their_error = max(their_error, (theirs[key].grad.flatten() - gradient).abs().max().item())
      used += p.numel()
    if used != ours.numel():
      raise ValueError(f'{used} gradients here, not {ours.numel()}')
    return f'{error / largest} {their_error / largest}'

  def losses(self, count):
    self.network.train()
    return ' '.join(str(self.one_step().item()) for _ in range(int(count)))

  def time_training(self, run, count):
    self.network.train()
    start = time.perf_counter_ns()
    for _ in range(int(count)):
      run()
    return (time.perf_counter_ns() - start) / int(count)

  def step(self, count):
    return self.time_training(self.one_step, count)

  def backward(self, count):
    return self.time_training(self.forward_and_backward, count)

  def infer(self, count):
    self.network.eval()
    with torch.inference_mode():
      start = time.perf_counter_ns()
      for _ in range(int(count)):
        self.network(self.input)
      return (time.perf_counter_ns() - start) / int(count)


def main():
  torch.set_num_threads(1)
  torch.set_flush_denormal(True)  # as ago does; it takes a tenth of the time where gradients vanish
  training = Training(float(sys.argv[1]), float(sys.argv[2]))
  for line in sys.stdin:
    try:
      command, *arguments = line.split()
      answer = getattr(training, command)(*arguments)
      print('ok' if answer is None else f'ok {answer}', flush=True)
    except Exception as e:  # pylint: disable=broad-except
      print('error', ' '.join(str(e).split()) or type(e).__name__, flush=True)


if __name__ == '__main__':
  main()
