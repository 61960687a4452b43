# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT-tiny and MobileViT-S in PyTorch, with modules declared in the order in which they are called."""
import torch
from torch import nn
from torch.nn import functional


def attend(q, k, v, heads):
    """Attention on [batch, tokens, channels]; each head has a part of the channels."""
    def split(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)
    scores = split(q) @ split(k).transpose(2, 3) * (q.shape[2] // heads) ** -0.5
    return (scores.softmax(-1) @ split(v)).transpose(1, 2).flatten(2)


class BertLayer(nn.Module):
    def __init__(self, channels, heads, wide):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(channels, channels) for _ in range(3))
        self.projection = nn.Linear(channels, channels)
        self.norm_of_attention = nn.LayerNorm(channels, eps=1e-12)
        self.up, self.down = nn.Linear(channels, wide), nn.Linear(wide, channels)
        self.norm = nn.LayerNorm(channels, eps=1e-12)

    def forward(self, x):
        x = self.norm_of_attention(x + self.projection(attend(self.q(x), self.k(x), self.v(x), self.heads)))
        return self.norm(x + self.down(functional.gelu(self.up(x))))


class BertTiny(nn.Module):
    """[batch, tokens, 128] -> the same."""
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(128, eps=1e-12)
        self.layers = nn.Sequential(BertLayer(128, 2, 512), BertLayer(128, 2, 512))

    def forward(self, x):
        return self.layers(self.norm(x))


class BertTinyOfIds(nn.Module):
    """[batch, tokens] of integers -> [batch, tokens, 128]."""
    def __init__(self, tokens):
        super().__init__()
        self.words = nn.Embedding(30522, 128)
        self.positions = nn.Embedding(tokens, 128)
        self.segment = nn.Parameter(torch.zeros(128))
        self.bert = BertTiny()

    def state_dict(self, *args, **kwargs):  # PyTorch lists a module's own parameters first
        state = super().state_dict(*args, **kwargs)
        segment = state.pop("segment")
        return dict(list(state.items())[:2] + [("segment", segment)] + list(state.items())[2:])

    def forward(self, ids):
        return self.bert(self.words(ids) + self.positions.weight + self.segment)


def conv(channels, out, kernel=1, stride=1, groups=1, activation=True):
    layers = [nn.Conv2d(channels, out, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(out)]
    return nn.Sequential(*layers, *([nn.SiLU()] if activation else []))


class InvertedResidual(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        wide = 4 * channels
        self.residual = stride == 1 and channels == out
        self.body = nn.Sequential(conv(channels, wide), conv(wide, wide, 3, stride, wide),
                                  conv(wide, out, activation=False))

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


class VitLayer(nn.Module):
    def __init__(self, channels, wide):
        super().__init__()
        self.norm_of_attention = nn.LayerNorm(channels)
        self.qkv, self.projection = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.norm = nn.LayerNorm(channels)
        self.up, self.down = nn.Linear(channels, wide), nn.Linear(wide, channels)

    def forward(self, x):
        x = x + self.projection(attend(*self.qkv(self.norm_of_attention(x)).chunk(3, 2), 4))
        return x + self.down(functional.silu(self.up(self.norm(x))))


class VitBlock(nn.Module):
    """Patches of 2x2 pixels; images of odd extents are resized."""
    def __init__(self, channels, wide, layers):
        super().__init__()
        self.near = nn.Sequential(conv(channels, channels, 3), nn.Conv2d(channels, wide, 1, bias=False))
        self.far = nn.Sequential(*(VitLayer(wide, 2 * wide) for _ in range(layers)), nn.LayerNorm(wide))
        self.back = conv(wide, channels)
        self.fuse = conv(2 * channels, channels, 3)

    def forward(self, x):
        y = self.near(x)
        n, c, h, w = y.shape
        even = (h + h % 2, w + w % 2)
        if even != (h, w):
            y = functional.interpolate(y, size=even, mode="bilinear", align_corners=False)
        patches = (even[0] // 2, even[1] // 2)
        y = y.reshape(n, c, patches[0], 2, patches[1], 2).permute(0, 3, 5, 2, 4, 1).reshape(4 * n, -1, c)
        y = self.far(y)
        y = y.reshape(n, 2, 2, *patches, c).permute(0, 5, 3, 1, 4, 2).reshape(n, c, *even)
        if even != (h, w):
            y = functional.interpolate(y, size=(h, w), mode="bilinear", align_corners=False)
        return self.fuse(torch.cat((x, self.back(y)), 1))


class MobileVitS(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv(3, 16, 3, 2), InvertedResidual(16, 32, 1),
            InvertedResidual(32, 64, 2), InvertedResidual(64, 64, 1), InvertedResidual(64, 64, 1),
            InvertedResidual(64, 96, 2), VitBlock(96, 144, 2),
            InvertedResidual(96, 128, 2), VitBlock(128, 192, 4),
            InvertedResidual(128, 160, 2), VitBlock(160, 240, 3), conv(160, 640))
        self.classifier = nn.Linear(640, 1000)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))
