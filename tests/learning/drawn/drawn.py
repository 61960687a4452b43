#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws networks whose layers have the sizes of real ones, compiles a program that trains each, and compares its
gradients in single precision with those of the reference executor in double precision.

As a network takes ten seconds to compile, the tests have few. Exits with 1 if any network differs or does not compile;
its program is then kept in the folder.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LARGEST = 150_000  # elements of a value; the executor computes some million in a second
SMOOTH = ['silu{}', 'gelu{}', 'sigmoid{}', 'hyperbolic_tangent{}', 'hard_swish{}']
KINKED = ['relu{}', 'relu6{}', 'leaky_relu{.1f}', 'prelu{}']


class Network:
  """A network, layer by layer, with the extents of its result."""
  def __init__(self, seed):
    self.random = random.Random(seed)
    self.batch = self.any(1, 1, 2, 3, 8)
    self.h = self.any(7, 9, 14, 20, 28, 33)
    self.w = self.any(self.h, self.h, self.h + 3)
    self.c = self.any(1, 3, 16, 24, 64, 100, 130, 256)
    start = f'input{{.h = {self.h}, .w = {self.w}, .c = {self.c}}}'
    self.lines = []
    for _ in range(self.any(1, 2, 2, 3)):
      self.block()
    if self.chance(.2):
      self.tokens()
    self.ending()
    body = ''.join(f'      {line}\n' for line in self.lines)
    self.text = f'trace(\n    [](tensor x) {{\n{body}      return x;\n    }},\n    {start})'

  def any(self, *choices):
    return self.random.choice(choices)

  def chance(self, part):
    return self.random.random() < part

  def add(self, line):
    self.lines.append(line)

  def layer(self, text):
    self.add(f'x = x | {text};')

  def activated(self):
    # Values next to a kink may be on its other side in single precision; they are few where a norm comes before.
    if self.chance(.7):
      self.layer(self.any('batch_norm{}', 'batch_norm{}', 'layer_norm{}') if self.h * self.w * self.batch > 40 else
                 'layer_norm{}')
    self.layer(self.any(*SMOOTH) if self.chance(.8) else self.any(*KINKED))

  def convolution(self):
    kernel = self.any(1, 1, 3, 3, 3, 5, 7)
    stride, pad = self.any(1, 1, 1, 2), self.any(0, kernel // 2, kernel // 2)
    dilation = self.any(1, 1, 1, 2) if kernel == 3 else 1
    out, groups = self.any(16, 24, 31, 32, 48, 64, 96, 130, 160, 256), 1
    if self.chance(.2):
      groups = next((g for g in (8, 4, 2) if self.c % g == 0 and out % g == 0), 1)
    kind = self.any('conv2d', 'conv2d', 'conv2d', 'depthwise', 'conv_transpose')
    if kind == 'conv_transpose':
      if self.transposed(out):
        return
      kernel, dilation, stride, pad = 3, 1, 1, 1
    span = dilation * (kernel - 1) + 1
    if min(self.h, self.w) + 2 * pad < span:
      pad = span // 2
    h, w = ((x + 2 * pad - span) // stride + 1 for x in (self.h, self.w))
    common = f'.kernel = {kernel}, .stride = {stride}, .pad = {pad}, .dilation = {dilation}, '
    if kind == 'depthwise':
      out = self.c
      self.layer(f'depthwise{{{common}.bias = {self.flag()}}}')
    elif h * w * out * self.batch > LARGEST:
      out = 16
      self.layer(f'conv2d{{.out = 16, {common}.bias = {self.flag()}}}')
    else:
      self.layer(f'conv2d{{.out = {out}, {common}.groups = {groups}, .bias = {self.flag()}}}')
    self.h, self.w, self.c = h, w, out

  def transposed(self, out):
    """A transposed convolution, if its result is not too large."""
    kernel, stride = self.any(2, 3, 4), self.any(1, 2)
    h, w = ((x - 1) * stride + kernel for x in (self.h, self.w))
    if h * w * out * self.batch > LARGEST:
      return False
    self.layer(f'conv_transpose{{.out = {out}, .kernel = {kernel}, .stride = {stride}, .bias = {self.flag()}}}')
    self.h, self.w, self.c = h, w, out
    return True

  def flag(self):
    return self.any('true', 'false')

  def pool(self):
    kernel = self.any(2, 3)
    if min(self.h, self.w) < 2 * kernel:
      return
    pad = self.any(0, kernel // 2)
    self.layer(f'{self.any("max_pool", "avg_pool")}{{.kernel = {kernel}, .stride = 2, .pad = {pad}}}')
    self.h, self.w = ((x + 2 * pad - kernel) // 2 + 1 for x in (self.h, self.w))

  def joined(self):
    c = self.c
    match self.random.randrange(5):
      case 0:
        self.add(f'x = x + (x | conv2d{{.out = {c}, .kernel = 3, .pad = 1}} | batch_norm{{}} | silu{{}});')
      case 1:
        self.add(f'x = x * (x | global_avg_pool{{}} | linear{{{max(c // 4, 1)}}} | silu{{}} | linear{{{c}}} | '
                 'sigmoid{});')
      case 2:
        out = self.any(8, 20, 32)
        self.add(f'x = concat(x | pointwise{{{out}}} | silu{{}}, x | conv2d{{.out = {out + 4}, .kernel = 3, .pad = 1}});')
        self.c = 2 * out + 4
      case 3:
        if c % 2 == 0:
          n = len(self.lines)
          self.add(f'auto const [left{n}, right{n}] = chunk<2>(x);')
          self.add(f'x = concat(left{n}, right{n} | pointwise{{{c // 2}}} | batch_norm{{}} | silu{{}}) | '
                   'channel_shuffle{2};')
      case 4:
        wide = self.any(2, 4) * c
        if self.h * self.w * wide * self.batch <= LARGEST:
          self.add(f'x = x + (x | pointwise{{{wide}}} | batch_norm{{}} | silu{{}} | depthwise{{.kernel = 3, .pad = 1}} | '
                   f'batch_norm{{}} | silu{{}} | pointwise{{{c}}} | batch_norm{{}});')

  def block(self):
    self.convolution()
    self.activated()
    if self.chance(.3):
      self.pool()
    if self.chance(.4):
      self.joined()

  def tokens(self):
    if self.h * self.w > 200:
      return
    self.layer(f'reshape{{.h = 1, .w = {self.h * self.w}, .c = {self.c}}}')
    self.h, self.w = 1, self.h * self.w
    heads, c = self.any(1, 2, 4), self.any(16, 32, 64)
    self.layer(f'linear{{{c}}} | layer_norm{{}}')
    self.add(f'x = x + (attention{{.heads = {heads}}}(x | linear{{{c}}}, x | linear{{{c}}}, x | linear{{{c}}}) | '
             f'linear{{{c}}});')
    self.layer(f'layer_norm{{}} | linear{{{2 * c}}} | gelu{{}} | linear{{{c}}}')
    self.c = c

  def ending(self):
    if self.chance(.5) or self.h * self.w * self.c > 20000:
      self.layer('global_avg_pool{}')
    else:
      self.layer(f'reshape{{.h = 1, .w = 1, .c = {self.h * self.w * self.c}}}')
    self.layer(f'linear{{{self.any(3, 10, 40)}}}')

  def source(self):
    return f'''#include "check.hpp"
using namespace ago;
constexpr auto net = {self.text};
int main() {{ return drawn::check<trainer<net, mean_squared_error, sgd, training{{.batch = {self.batch}}}>>(); }}
'''


def run(seed, folder, compile_command):
  source, program = folder / f'{seed}.cpp', folder / str(seed)
  source.write_text(Network(seed).source())
  made = subprocess.run([*compile_command, source, '-o', program], capture_output=True, text=True)
  if made.returncode != 0:
    return False, next((line for line in made.stderr.splitlines() if 'error' in line), made.stderr)
  try:
    done = subprocess.run([program], capture_output=True, text=True, timeout=600)
  except subprocess.TimeoutExpired:
    return False, 'takes more than ten minutes'
  program.unlink()
  if done.returncode == 0:
    source.unlink()
  return done.returncode == 0, (done.stdout + done.stderr).strip() or f'status {done.returncode}'


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument('--networks', type=int, default=20)
  parser.add_argument('--first', type=int, default=1, help='seed of the first network')
  parser.add_argument('--compiler', default=os.environ.get('CXX', 'c++'), help='with its flags')
  parser.add_argument('--flags', default='-O2 -march=native')
  parser.add_argument('--include', action='append', default=[], help='a folder of headers of libraries')
  parser.add_argument('--folder', type=pathlib.Path, help='for programs (default: a temporary one)')
  parser.add_argument('--jobs', type=int, default=os.cpu_count())
  a = parser.parse_args()
  folder = a.folder or pathlib.Path(tempfile.mkdtemp(prefix='drawn-'))
  folder.mkdir(parents=True, exist_ok=True)
  places = [ROOT / 'include', ROOT / 'tests', *a.include]
  command = [*shlex.split(a.compiler), '-std=c++20', *shlex.split(a.flags), f'-I{HERE}', *(f'-I{p}' for p in places)]
  bad = 0
  with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
    seeds = range(a.first, a.first + a.networks)
    for seed, (good, text) in zip(seeds, pool.map(lambda s: run(s, folder, command), seeds)):
      bad += not good
      print(f'network {seed}: {text}', flush=True)
  if bad:
    print(f'{bad} of {a.networks} networks; programs in {folder}', file=sys.stderr)
  elif not a.folder:
    folder.rmdir()
  return bad > 0


if __name__ == '__main__':
  sys.exit(main())
