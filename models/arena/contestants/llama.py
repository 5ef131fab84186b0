"""The llama architecture in plain torch, with a cache of keys and values.

Shapes: B sequences, T tokens, C width, H query heads and G key-value heads of D each.
Both language models here have it: RMS norm, rotary positions on interleaved pairs (2i, 2i+1),
grouped queries, a gated feed-forward layer, and an output layer tied to the embedding.

References
----------
H. Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023; J. Su et al.,
"RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.torchrun import torch

nn, F = torch.nn, torch.nn.functional
Cache = list[tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class LlamaConfig:
    """Shape of the network; ``context`` is the longest sequence it was trained on."""

    vocabulary: int
    layers: int
    width: int
    heads: int
    kv_heads: int
    feed_forward: int
    context: int
    rope_base: float = 10_000.0
    eps: float = 1e-5

    @property
    def head(self) -> int:
        """Width of one head."""
        return self.width // self.heads


class RmsNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight, computed in float32."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise the last axis."""
        wide = x.float()
        scaled = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return (scaled * self.weight.float()).to(x.dtype)


def rotate(x: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    """Turn each pair (2i, 2i+1) of the last axis by its angle; x (B, H, T, D), angle (T, D/2)."""
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    cos, sin = angle.cos(), angle.sin()
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)


class Layer(nn.Module):
    """One block: attention, then the gated feed-forward layer, each added to its input."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        c, kv = config.width, config.kv_heads * config.head
        self.config = config
        self.attn_norm = RmsNorm(c, config.eps)
        self.attn_q = nn.Linear(c, c, bias=False)
        self.attn_k = nn.Linear(c, kv, bias=False)
        self.attn_v = nn.Linear(c, kv, bias=False)
        self.attn_output = nn.Linear(c, c, bias=False)
        self.ffn_norm = RmsNorm(c, config.eps)
        self.ffn_gate = nn.Linear(c, config.feed_forward, bias=False)
        self.ffn_up = nn.Linear(c, config.feed_forward, bias=False)
        self.ffn_down = nn.Linear(config.feed_forward, c, bias=False)

    def forward(
        self,
        x: torch.Tensor,
        angle: torch.Tensor,
        past: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Return the output (B, T, C) and the keys and values so far, each (B, G, T, D)."""
        batch, length, _ = x.shape
        y = self.attn_norm(x)
        q, k, v = (
            part(y).view(batch, length, -1, self.config.head).transpose(1, 2)
            for part in (self.attn_q, self.attn_k, self.attn_v)
        )
        q, k = rotate(q, angle), rotate(k, angle)
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        groups = self.config.heads // self.config.kv_heads
        wide_k = k.repeat_interleave(groups, dim=1) if groups > 1 else k
        wide_v = v.repeat_interleave(groups, dim=1) if groups > 1 else v
        if past is None or length == 1:
            y = F.scaled_dot_product_attention(q, wide_k, wide_v, is_causal=length > 1)
        else:
            seen = torch.ones(length, k.shape[2], dtype=torch.bool, device=x.device)
            mask = seen.tril(k.shape[2] - length)
            y = F.scaled_dot_product_attention(q, wide_k, wide_v, attn_mask=mask)
        x = x + self.attn_output(y.transpose(1, 2).reshape(batch, length, -1))
        y = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(y)) * self.ffn_up(y)), (k, v)


class Llama(nn.Module):
    """The whole network."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        self.token_embd = nn.Embedding(config.vocabulary, config.width)
        self.blk = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.output_norm = RmsNorm(config.width, config.eps)

    def forward(
        self, tokens: torch.Tensor, cache: Cache | None = None, *, last: bool = False
    ) -> torch.Tensor:
        """Return the logits of the next token.

        Parameters
        ----------
        tokens : int64 (B, T)
        cache : keys and values of the tokens before these, extended in place; an empty list starts
            one
        last : only after the last token, (B, 1, vocabulary) instead of (B, T, vocabulary)
        """
        start = cache[0][0].shape[2] if cache else 0
        position = torch.arange(start, start + tokens.shape[1], device=tokens.device)
        half = torch.arange(0, self.config.head, 2, device=tokens.device) / self.config.head
        angle = position[:, None].float() * self.config.rope_base ** -half.float()
        x = self.token_embd(tokens)
        for i, layer in enumerate(self.blk):
            x, kept = layer(x, angle, cache[i] if cache and i < len(cache) else None)
            if cache is not None:
                cache[i : i + 1] = [kept]
        x = self.output_norm(x[:, -1:] if last else x)
        return F.linear(x, self.token_embd.weight)
