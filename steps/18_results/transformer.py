"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017).
Numbers like (3.2.1) are its sections.  A mask is True where one may look."""

import argparse
import copy
import ctypes
import hashlib
import json
import math
import os
import random
import re
import shutil
import sys
import time
import unicodedata
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, fields
from itertools import islice
from pathlib import Path

import torch
import torch.distributed as dist
from sacrebleu.metrics import BLEU
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader
from tqdm import tqdm


def attention(query, key, value, mask=None, dropout=None, need_weights=True):
    """Average the values by how well each key fits the query (3.2.1).
    Shapes: (..., q, d_k), (..., k, d_k), (..., k, d_v), mask (..., q, k).
    Without need_weights a fused form, which never stores them, is used."""
    d_k = query.size(-1)
    if key.size(-1) != d_k or key.size(-2) != value.size(-2):
        raise ValueError(
            f"query {query.shape} and key {key.shape} must have equal d_k, "
            f"key and value {value.shape} equal lengths"
        )
    if mask is not None:
        if mask.is_floating_point() and (mask < 0).any():
            raise ValueError("mask has numbers below 0: 1 is visible, 0 not")
        size = torch.Size([*query.shape[:-1], key.size(-2)])
        mask = mask != 0
        try:
            mask.expand(size)  # a check only: what is smaller is cheaper
        except RuntimeError:
            raise ValueError(
                f"mask {mask.shape} must broadcast to scores {size}"
            ) from None
    if not need_weights:
        p = dropout.p if dropout is not None and dropout.training else 0.0
        x = F.scaled_dot_product_attention(query, key, value, mask, p)
        return x, None
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)  # (..., q, k)
    if mask is not None:
        # The smallest finite number: -inf gives NaN where all is hidden.
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights  # (..., q, d_v), (..., q, k)


def subsequent_mask(size):
    "Let position i look at positions 0 to i only (3.2.3).  (1, size, size)"
    if size < 1:
        raise ValueError(f"size is {size}: a mask needs at least 1 position")
    return torch.ones(1, size, size, dtype=torch.bool).tril()


def clones(module, N):
    "N deep copies: equal at first, each with parameters of its own."
    if N < 1:
        raise ValueError(f"N is {N}: a stack needs at least 1 layer")
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


class MultiHeadedAttention(nn.Module):
    """h attentions side by side, each on d_model / h features (3.2.2).
    Shapes: (batch, q or k, d_model); mask (batch, 1 or q, k), all heads."""

    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        if not 1 <= h <= d_model or d_model % h != 0:
            raise ValueError(f"h is {h}: it must divide d_model, {d_model}")
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None  # the last weights, to look at: (batch, h, q, k)
        self.dropout = nn.Dropout(dropout)
        self.need_weights = False  # True: keep them in attn

    def forward(self, query, key, value, mask=None):
        return self.attend(query, *self.project(key, value), mask)

    def project(self, key, value):
        "What a decoder can keep: (batch, h, k, d_k) each."
        return (
            self.heads(self.linears[1](key)),
            self.heads(self.linears[2](value)),
        )

    def heads(self, x):
        return x.unflatten(-1, (self.h, self.d_k)).transpose(1, 2)

    def attend(self, query, key, value, mask=None):
        "forward with key and value as project returned them."
        if mask is not None:
            if mask.dim() != 3:
                raise ValueError(f"mask {mask.shape} is not (batch, q, k)")
            mask = mask.unsqueeze(1)  # (batch, 1, 1 or q, k)
        query = self.heads(self.linears[0](query))
        x, weights = attention(
            query, key, value, mask, self.dropout, self.need_weights
        )
        self.attn = weights.detach() if self.need_weights else None
        x = x.transpose(1, 2).flatten(2)  # (batch, q, d_model)
        return self.linears[-1](x)


class Dropout(nn.Dropout):
    "nn.Dropout for a CPU: one random number serves four elements."

    def forward(self, x):
        if x.device.type != "cpu" or not self.training or self.p == 1:
            return super().forward(x)
        numbers = torch.empty((x.numel() + 3) // 4, dtype=torch.int64)
        numbers.random_(-(2**63), None)  # all 64 bits are random
        parts = numbers.view(torch.int16)[: x.numel()].view(x.shape)
        kept = parts >= round(self.p * 2**16) - 2**15
        return x * kept.to(x.dtype).div_(1 - self.p)


class PositionwiseFeedForward(nn.Module):
    "Two linear maps and a ReLU, the same at each position (3.3)."

    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x):
        return self.w_2(self.dropout(self.w_1(x).relu()))


class Embeddings(nn.Module):
    "Token ids (...) to vectors (..., d_model), scaled by sqrt(d_model) (3.4)."

    def __init__(self, d_model, vocab):
        super().__init__()
        self.lut = nn.Embedding(vocab, d_model)
        self.d_model = d_model

    def forward(self, x):
        try:
            return self.lut(x) * math.sqrt(self.d_model)
        except IndexError:
            raise ValueError(
                f"ids from {x.min()} to {x.max()} are not all in the "
                f"vocabulary, 0 to {self.lut.num_embeddings - 1}"
            ) from None


class PositionalEncoding(nn.Module):
    """Add sines and cosines of the position (3.5).
    x: (batch, length, d_model), its first position being number start."""

    def __init__(self, d_model, dropout, max_len=5000):
        super().__init__()
        if d_model < 2 or d_model % 2 != 0 or max_len < 1:
            raise ValueError(
                f"d_model is {d_model}, max_len {max_len}: an even number "
                "and at least 1 are needed"
            )
        self.dropout = Dropout(dropout)
        position = torch.arange(max_len).double().unsqueeze(1)
        period = 10000 ** (torch.arange(0, d_model, 2).double() / d_model)
        angle = position / period  # (max_len, d_model / 2)
        pe = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        self.register_buffer("pe", pe.float().unsqueeze(0))

    def forward(self, x, start=0):
        length, max_len = start + x.size(1), self.pe.size(1)
        if start < 0:
            raise ValueError(f"start is {start}: positions begin at 0")
        if length > max_len:
            raise ValueError(f"length {length} is over max_len, {max_len}")
        if x.shape[2:] != self.pe.shape[2:]:
            raise ValueError(
                f"x {x.shape} is not (batch, length, {self.pe.size(2)})"
            )
        return self.dropout(x + self.pe[:, start:length])


class LayerNorm(nn.Module):
    """Give each position mean 0 and deviation 1, then scale and shift (3.1).
    x: (..., features).  The deviation is over n - 1, unlike nn.LayerNorm's."""

    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        # PyTorch's divides by n: its deviation is smaller by this factor.
        n = x.size(-1)
        scale = self.a_2 * math.sqrt((n - 1) / n)
        return F.layer_norm(x, (n,), scale, self.b_2, self.eps**2)


class SublayerConnection(nn.Module):
    """Pre-LN: x + dropout(sublayer(norm(x))).  x: (..., size)
    The paper has Post-LN: norm(x + dropout(sublayer(x))) (3.1, 5.4)."""

    def __init__(self, size, dropout):
        super().__init__()
        self.norm = LayerNorm(size)
        self.dropout = Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each a sublayer (3.1).
    x: (batch, length, size), mask: (batch, 1 or length, length)."""

    def __init__(self, size, self_attn, feed_forward, dropout):
        super().__init__()
        self.self_attn = self_attn
        self.feed_forward = feed_forward
        self.sublayer = clones(SublayerConnection(size, dropout), 2)
        self.size = size

    def forward(self, x, mask):
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, mask))
        return self.sublayer[1](x, self.feed_forward)


class Encoder(nn.Module):
    """N layers in a row and a last norm, as Pre-LN leaves x unnormalised.
    x: (batch, length, size), mask: (batch, 1 or length, length)."""

    def __init__(self, layer, N):
        super().__init__()
        self.layers = clones(layer, N)
        self.norm = LayerNorm(layer.size)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


class DecoderLayer(nn.Module):
    """Self-attention, attention to the source, then feed-forward (3.1).
    x: (batch, t, size), memory: (batch, s, size), the encoder's output."""

    def __init__(self, size, self_attn, src_attn, feed_forward, dropout):
        super().__init__()
        self.size = size
        self.self_attn = self_attn
        self.src_attn = src_attn
        self.feed_forward = feed_forward
        self.sublayer = clones(SublayerConnection(size, dropout), 3)

    def forward(self, x, memory, src_mask, tgt_mask):
        m = memory
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, tgt_mask))
        x = self.sublayer[1](x, lambda x: self.src_attn(x, m, m, src_mask))
        return self.sublayer[2](x, self.feed_forward)

    def step(self, x, cache, src_mask):
        "forward for the next position alone, x (rows, 1, size): no tgt_mask."
        own, src = self.self_attn, self.src_attn
        x = self.sublayer[0](
            x, lambda x: own.attend(x, *cache.extend(*own.project(x, x)))
        )
        # The beginnings of a sentence look at its memory side by side, as if
        # they were positions: so it is not copied for each of them.
        x = self.sublayer[1](
            x,
            lambda x: src.attend(
                x.view(len(cache.memory[0]), -1, self.size),
                *cache.memory,
                src_mask,
            ).view_as(x),
        )
        return self.sublayer[2](x, self.feed_forward)


class Decoder(nn.Module):
    """N layers in a row and a last norm, like the encoder (3.1).
    src_mask: (batch, 1 or t, s), tgt_mask: (batch, 1 or t, t)."""

    def __init__(self, layer, N):
        super().__init__()
        self.layers = clones(layer, N)
        self.norm = LayerNorm(layer.size)

    def forward(self, x, memory, src_mask, tgt_mask):
        for layer in self.layers:
            x = layer(x, memory, src_mask, tgt_mask)
        return self.norm(x)


class Generator(nn.Module):
    "Log-probabilities of the next token.  (..., d_model) -> (..., vocab)"

    def __init__(self, d_model, vocab):
        super().__init__()
        self.proj = nn.Linear(d_model, vocab)

    def forward(self, x):
        return self.proj(x).log_softmax(dim=-1)


class EncoderDecoder(nn.Module):
    """The whole model but for the generator, which its caller applies (3).
    src: ids (batch, s), tgt: ids (batch, t) -> (batch, t, d_model)."""

    def __init__(self, encoder, decoder, src_embed, tgt_embed, generator):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.src_embed = src_embed
        self.tgt_embed = tgt_embed
        self.generator = generator

    def forward(self, src, tgt, src_mask, tgt_mask):
        memory = self.encode(src, src_mask)
        return self.decode(memory, src_mask, tgt, tgt_mask)

    def encode(self, src, src_mask):
        return self.encoder(self.src_embed(src), src_mask)

    def decode(self, memory, src_mask, tgt, tgt_mask):
        return self.decoder(self.tgt_embed(tgt), memory, src_mask, tgt_mask)


def make_model(
    src_vocab, tgt_vocab, N=6, d_model=512, d_ff=2048, h=8, dropout=0.1
):
    "Build the model of the paper's base size, with Xavier weights (3, 6.2)."
    if min(src_vocab, tgt_vocab, d_ff) < 1:
        raise ValueError(
            f"src_vocab is {src_vocab}, tgt_vocab {tgt_vocab}, d_ff {d_ff}: "
            "each must be at least 1"
        )
    attn = MultiHeadedAttention(h, d_model, dropout)
    ff = PositionwiseFeedForward(d_model, d_ff, dropout)
    position = PositionalEncoding(d_model, dropout)
    c = copy.deepcopy
    model = EncoderDecoder(
        Encoder(EncoderLayer(d_model, c(attn), c(ff), dropout), N),
        Decoder(DecoderLayer(d_model, c(attn), c(attn), c(ff), dropout), N),
        nn.Sequential(Embeddings(d_model, src_vocab), c(position)),
        nn.Sequential(Embeddings(d_model, tgt_vocab), c(position)),
        Generator(d_model, tgt_vocab),
    )
    # Copies start equal: only this makes the layers differ.
    for p in model.parameters():
        if p.dim() > 1:
            nn.init.xavier_uniform_(p)
    return model


def tie_embeddings(model):
    """Let both embeddings and the output share one matrix, in place (3.4).
    Source and target must share one vocabulary."""
    source, target = model.src_embed[0].lut, model.tgt_embed[0].lut
    if source.weight.shape != target.weight.shape:
        raise ValueError(
            f"the vocabularies have {source.num_embeddings} and "
            f"{target.num_embeddings} tokens: to be tied, they must be one"
        )
    target.weight = model.generator.proj.weight = source.weight
    return model


class LayerCache:
    """What a decoder layer need not compute again: keys and values of memory
    and of the target so far, each (rows, h, length, d_k)."""

    def __init__(self, memory):
        self.memory = memory
        self.target = [x[:, :, :0] for x in memory]

    def extend(self, *new):
        self.target = [torch.cat(pair, 2) for pair in zip(self.target, new)]
        return self.target


class StepDecoder:
    """Called with the newest token of each row, ids (rows), it returns the
    log-probabilities of the next, (rows, vocab), and computes nothing twice.
    A sentence may have several rows, side by side; it begins with one."""

    def __init__(self, model, src, src_mask):
        if len(src) == 0:
            raise ValueError(f"src {src.shape} has no row")
        memory = model.encode(src, src_mask)
        if src_mask is not None:  # rows will be taken out of it
            src_mask = src_mask.expand(len(src), -1, -1)
        self.model, self.src_mask, self.length = model, src_mask, 0
        self.caches = [
            LayerCache(layer.src_attn.project(memory, memory))
            for layer in model.decoder.layers
        ]

    def __call__(self, tokens):
        embed, position = self.model.tgt_embed
        decoder = self.model.decoder
        x = position(embed(tokens.unsqueeze(1)), self.length)
        self.length += 1
        for layer, cache in zip(decoder.layers, self.caches):
            x = layer.step(x, cache, self.src_mask)
        return self.model.generator(decoder.norm(x).squeeze(1))

    def select(self, sentences, rows):
        "Go on with these sentences and rows only; a row may come twice."
        for cache in self.caches:
            cache.target = [x[rows] for x in cache.target]
            cache.memory = [x[sentences] for x in cache.memory]
        if self.src_mask is not None:
            self.src_mask = self.src_mask[sentences]


@torch.no_grad()
def greedy_decode(
    model, src, src_mask, max_len, start_symbol, end_symbol=None
):
    """Begin with start_symbol and add the likeliest token, time and again.
    src: ids (batch, s) -> ids (batch, up to max_len), the start included.
    A row that reaches end_symbol stops, and is filled up with it."""
    if max_len < 1:
        raise ValueError(f"max_len is {max_len}: the start alone takes 1")
    ys = torch.full((len(src), max_len), start_symbol, device=src.device)
    going = torch.arange(src.size(0), device=src.device)
    decoder = StepDecoder(model, src, src_mask)
    for i in range(1, max_len):
        token = decoder(ys[going, i - 1]).argmax(dim=-1)
        ys[going, i] = token
        if end_symbol is not None and (token == end_symbol).any():
            ys[going[token == end_symbol], i:] = end_symbol
            more = token != end_symbol
            going = going[more]
            if len(going) == 0:
                return ys[:, : i + 1]
            decoder.select(more, more)
    return ys


@torch.no_grad()
def beam_search(
    model,
    src,
    src_mask,
    max_len,
    start_symbol,
    end_symbol,
    beam=4,
    length_penalty=0.6,
):
    """Follow the beam likeliest beginnings of each row, not only one (6.1).
    src: ids (batch, s) -> ids (batch, up to max_len) and scores (batch), which
    are log p / ((5 + length) / 6) ** length_penalty.  The greedy sentence is
    always followed: if it ends, no score is below its score."""
    if not 1 <= beam <= 100 or max_len < 2:
        raise ValueError(
            f"beam is {beam}, max_len {max_len}: 1 to 100 and at least 2 are "
            "needed"
        )
    decoder = StepDecoder(model, src, src_mask)
    going = list(range(src.size(0)))  # the sentences still searched
    ended = [[] for _ in going]  # (score, ids) of each
    # (going, k, length)
    ys = torch.full((len(going), 1, 1), start_symbol, device=src.device)
    log_p = torch.zeros(len(going), 1, device=src.device)  # (going, k)
    greedy = torch.ones(len(going), dtype=torch.bool, device=src.device)
    for length in range(1, max_len):
        penalty = ((5 + length) / 6) ** length_penalty
        k = ys.size(1)
        step = decoder(ys[:, :, -1].flatten()).unflatten(0, (-1, k))
        vocab = step.size(-1)
        total = (log_p.unsqueeze(-1) + step).flatten(1)  # (going, k * vocab)
        # The first beginning is the greedy one: its best token comes first.
        ranked = total.clone()
        ranked[greedy, step[greedy, 0].argmax(dim=-1)] = math.inf
        best = ranked.topk(min(2 * beam, total.size(1))).indices
        parent, token = best // vocab, best % vocab  # (going, 2 * beam)
        total = total.gather(1, best)
        ends = token == end_symbol
        for i, j in ends[:, :beam].nonzero().tolist():
            ids = [*ys[i, parent[i, j]].tolist(), end_symbol]
            ended[going[i]].append((float(total[i, j]) / penalty, ids))
        greedy &= ~ends[:, 0]
        # Of 2 * beam, at most beam end: the others go on, the best first.
        stay = ends.int().argsort(stable=True)[:, :beam]
        parent, token = parent.gather(1, stay), token.gather(1, stay)
        log_p = total.masked_fill(ends, -math.inf).gather(1, stay)
        ys = ys.gather(1, parent.unsqueeze(-1).expand(-1, -1, length))
        ys = torch.cat([ys, token.unsqueeze(-1)], dim=-1)
        rows = (
            parent + torch.arange(len(going), device=src.device)[:, None] * k
        )
        more = [
            i
            for i, sentence in enumerate(going)
            if greedy[i] or len(ended[sentence]) < beam
        ]
        going = [going[i] for i in more]
        if not going:
            break
        ys, log_p, greedy = ys[more], log_p[more], greedy[more]
        decoder.select(more, rows[more].flatten())
    for i, sentence in enumerate(going):
        if not ended[sentence]:  # max_len came first
            j = int(log_p[i].argmax())
            ended[sentence].append((float(log_p[i, j]) / penalty, ys[i, j]))
    scores, found = zip(*(max(e, key=lambda pair: pair[0]) for e in ended))
    found = [torch.as_tensor(ids, device=src.device) for ids in found]
    found = nn.utils.rnn.pad_sequence(found, True, end_symbol)
    return found, torch.tensor(scores, device=src.device)


class Batch:
    """What goes in, what must come out, and who may see what.
    src: ids (batch, s), tgt: ids (batch, t) from start to end, padded."""

    def __init__(self, src, tgt=None, pad=2):
        if src.dim() != 2:
            raise ValueError(f"src {src.shape} is not (batch, s)")
        self.src = src
        self.src_mask = (src != pad).unsqueeze(-2)  # (batch, 1, s)
        if tgt is not None:
            if tgt.dim() != 2 or len(tgt) != len(src) or tgt.size(1) < 2:
                raise ValueError(
                    f"tgt {tgt.shape} must have as many rows as src "
                    f"{src.shape} and at least 2 tokens a row"
                )
            self.tgt = tgt[:, :-1]
            self.tgt_y = tgt[:, 1:]  # one ahead: position i must say i + 1
            self.tgt_mask = self.make_std_mask(self.tgt, pad)
            self.ntokens = (self.tgt_y != pad).sum()

    @staticmethod
    def make_std_mask(tgt, pad):
        "Hide padding and future.  ids (batch, t) -> mask (batch, t, t)"
        visible = (tgt != pad).unsqueeze(-2)
        return visible & subsequent_mask(tgt.size(-1)).to(tgt.device)


@dataclass
class TrainState:
    "What training has done so far."

    step: int = 0  # batches
    accum_step: int = 0  # updates of the weights
    samples: int = 0  # sentences
    tokens: int = 0  # target tokens, without padding


def run_epoch(
    data_iter,
    model,
    loss_compute,
    optimizer,
    scheduler,
    mode="train",
    accum_iter=1,
    train_state=None,
    clip=None,
    autocast=None,
):
    """Go through the batches once; return the loss per token and the state.
    mode: "train", "train+log" or "eval"; accum_iter batches make an update.
    clip: the longest gradient; autocast: a context to compute the loss in."""
    if mode not in ("train", "train+log", "eval"):
        raise ValueError(f"mode is {mode!r}, not train, train+log or eval")
    if accum_iter < 1:
        raise ValueError(f"accum_iter is {accum_iter}: it must be at least 1")
    if clip is not None and not clip > 0:
        raise ValueError(f"clip is {clip}: a length must be over 0")
    training = mode != "eval"
    state = TrainState() if train_state is None else train_state
    total_loss, total_tokens, start = 0.0, 0, time.perf_counter()
    updates = None  # not known of an iterator
    if hasattr(data_iter, "__len__"):
        updates = math.ceil(len(data_iter) / accum_iter)
    bar = tqdm(
        total=updates,
        bar_format="{n_fmt}/{total_fmt} {bar} {remaining} left{postfix}",
        file=sys.stdout,
        disable=mode != "train+log",
    )
    batches = iter(data_iter)
    while group := list(islice(batches, accum_iter)):
        # All tokens of an update count alike, however they are batched.
        ntokens = sum(batch.ntokens for batch in group)
        if ntokens == 0:
            raise ValueError("tgt_y is all padding: nothing to learn from")
        if training:
            optimizer.zero_grad(set_to_none=True)
        for batch in group:
            with torch.set_grad_enabled(training), autocast or nullcontext():
                out = model(
                    batch.src, batch.tgt, batch.src_mask, batch.tgt_mask
                )
                loss, loss_node = loss_compute(out, batch.tgt_y, ntokens)
            total_loss += float(loss)
            total_tokens += int(batch.ntokens)
            if training:
                loss_node.backward()
                state.step += 1
                state.samples += batch.src.size(0)
                state.tokens += int(batch.ntokens)
        if training:
            if clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            scheduler.step()
            state.accum_step += 1
        pace = total_tokens / (time.perf_counter() - start)
        mean = total_loss / total_tokens
        bar.set_postfix_str(f"loss {mean:.3f}, {pace:,.0f} tokens/s", False)
        bar.update()
    # What is left to read is the same on any machine.
    bar.clear()
    bar.bar_format = f"{state.accum_step} updates, {state.tokens:,} tokens"
    bar.close()
    if total_tokens == 0:
        raise ValueError("data_iter has no batch")
    return total_loss / total_tokens, state


def rate(step, model_size, factor, warmup):
    """The learning rate: warmup steps up, then down as 1 / sqrt(step) (5.3).
    Step 0, where LambdaLR begins, counts as step 1."""
    if not (model_size >= 1 and warmup >= 1):
        raise ValueError(
            f"model_size is {model_size}, warmup {warmup}: each must be at "
            "least 1"
        )
    step = max(step, 1)
    return factor * model_size**-0.5 * min(step**-0.5, step * warmup**-1.5)


class LabelSmoothing(nn.Module):
    """KL divergence from a target that leaves some doubt (5.4), summed.
    x: log-probabilities (n, size), target: ids (n); padding counts 0."""

    def __init__(self, size, padding_idx, smoothing=0.0):
        super().__init__()
        if size < 3:
            raise ValueError(f"size is {size}: 3 are needed to share doubt")
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing is {smoothing}: it must be in [0, 1)")
        if not 0 <= padding_idx < size:
            raise ValueError(
                f"padding_idx is {padding_idx}: it must be in 0 to {size - 1}"
            )
        self.size = size
        self.padding_idx = padding_idx
        self.confidence = 1.0 - smoothing
        self.share = smoothing / (size - 2)  # of all but two tokens
        self.entropy = -self.confidence * math.log(self.confidence)
        if smoothing > 0:
            self.entropy -= smoothing * math.log(self.share)

    def forward(self, x, target):
        if target.dim() != 1 or x.shape != (len(target), self.size):
            raise ValueError(
                f"x is {x.shape}, not (n, size {self.size}), or target "
                f"{target.shape} not (n)"
            )
        # The target of (n, size) is never built: each row needs two sums.
        right = x.gather(1, target.unsqueeze(1)).squeeze(1)  # (n)
        loss = -self.confidence * right - self.entropy
        if self.share > 0:  # 0 times infinity would be no number
            pad = self.padding_idx
            others = x[:, :pad].sum(dim=1) + x[:, pad + 1 :].sum(dim=1) - right
            loss = loss - self.share * others
        return loss[target != self.padding_idx].sum()


def data_gen(V, batch_size, nbatches):
    """Batches of a task to learn: copy 9 random tokens of 2 to V - 1.
    0 is padding; each sequence begins with 1, the start token."""
    if V < 3:
        raise ValueError(f"V is {V}: padding and start leave no token")
    for _ in range(nbatches):
        data = torch.randint(2, V, (batch_size, 10))
        data[:, 0] = 1
        yield Batch(data, data, pad=0)


class SimpleLossCompute:
    "From the model's output to the loss: its sum, and per norm to descend."

    def __init__(self, generator, criterion):
        self.generator = generator
        self.criterion = criterion

    def __call__(self, x, y, norm):
        kept = y != self.criterion.padding_idx
        log_p = self.generator(x[kept])  # (tokens, vocab), without padding
        loss = self.criterion(log_p, y[kept])
        return loss.detach(), loss / norm


START, END, PAD = 0, 1, 2  # the first ids of every vocabulary
SPECIAL = ["<s>", "</s>", "<blank>"] + [f"<0x{b:02X}>" for b in range(256)]


def find(path):
    "A file of the course by its path there: looks upward from this file."
    for folder in Path(__file__).resolve().parents:
        if (folder / path).exists():
            return folder / path
    raise FileNotFoundError(f"{path} is in no folder above {__file__}")


def read_pairs(path):
    """The pairs of a UTF-8 file of lines "source<TAB>target", composed (NFC).
    Empty lines are skipped; lines of any other form are named and refused."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}: not UTF-8; save the file as UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(f"{path} has zero bytes: save the file as UTF-8")
    pairs, wrong = [], []
    lines = re.split("\r\n|\r|\n", unicodedata.normalize("NFC", text))
    for number, line in enumerate(lines, start=1):
        pair = tuple(side.strip() for side in line.split("\t"))
        if len(pair) == 2 and all(pair):
            pairs.append(pair)
        elif line.strip():
            wrong.append(number)
    if wrong:
        some = ", ".join(map(str, wrong[:5])) + ", ..." * (len(wrong) > 5)
        raise ValueError(
            f"{path}: lines {some} ({len(wrong)} in all) are not a source, "
            "one tab and a target"
        )
    if not pairs:
        raise ValueError(f"{path} has no line: it must have pairs")
    return pairs


def train_tokenizer(texts, vocab_size):
    """Learn subwords by byte-pair encoding: frequent words stay whole (5.1).
    A character that no text has becomes its bytes, so nothing is lost."""
    if not len(SPECIAL) < vocab_size <= 10**6:
        raise ValueError(
            f"vocab_size is {vocab_size}: it must be over {len(SPECIAL)}, the "
            "special tokens and the bytes, and at most a million"
        )

    def tokenizer(model):
        new = Tokenizer(model)
        new.normalizer = normalizers.NFC()
        # A word begins with "\u2581"; punctuation stands alone.
        new.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()]
        )
        new.decoder = decoders.Sequence(
            [decoders.ByteFallback(), decoders.Metaspace()]
        )
        return new

    learner = tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(SPECIAL), show_progress=False
    )
    learner.train_from_iterator(texts, trainer)
    learned = json.loads(learner.to_str())["model"]
    # Special pieces are no text, so no sentence can spell one.
    pieces = SPECIAL + sorted(learned["vocab"], key=learned["vocab"].get)
    if len(pieces) > vocab_size:
        raise ValueError(
            f"vocab_size is {vocab_size}: with {len(SPECIAL)} special and "
            f"bytes, the characters of these texts need {len(pieces)}"
        )
    ids = {piece: i for i, piece in enumerate(pieces)}
    merges = [tuple(merge) for merge in learned["merges"]]
    return tokenizer(models.BPE(ids, merges, byte_fallback=True))


def encode(tokenizer, texts):
    "Each text as a list of ids, from START to END."
    try:
        encodings = tokenizer.encode_batch(list(texts))
    except TypeError:
        raise ValueError(
            "a text is no Unicode: was it read as UTF-8?"
        ) from None
    return [[START, *encoding.ids, END] for encoding in encodings]


def decode(tokenizer, rows):
    "Each row of ids as text: what stands before END."
    rows = [list(map(int, row)) for row in rows]
    vocab = tokenizer.get_vocab_size()
    if not all(0 <= i < vocab for row in rows for i in row):
        raise ValueError(f"an id is not in the vocabulary, 0 to {vocab - 1}")
    rows = [row[: row.index(END)] if END in row else row for row in rows]
    return tokenizer.decode_batch([[i for i in r if i > PAD] for r in rows])


def group_by_length(pairs, max_tokens, seed):
    """Cut (src, tgt) lists of ids into groups of similar length, shuffled.
    A group has at most max_tokens a side, padding included."""
    if not pairs:
        raise ValueError("there is no pair to group")
    too_long = sum(max(map(len, pair)) > max_tokens for pair in pairs)
    if too_long:
        raise ValueError(
            f"{too_long} pairs are over max_tokens, {max_tokens}: raise it, "
            "or leave them out"
        )
    order = random.Random(seed)
    # Sorting keeps the shuffled order among equals.
    pairs = sorted(
        order.sample(pairs, len(pairs)), key=lambda p: [*map(len, p)]
    )
    groups, longest = [[]], 0
    for pair in pairs:
        longest = max(longest, *map(len, pair))
        if longest * (len(groups[-1]) + 1) > max_tokens:
            groups.append([])
            longest = max(map(len, pair))
        groups[-1].append(pair)
    order.shuffle(groups)
    return groups


def pad_rows(rows):
    "Lists of ids as one tensor (rows, longest), filled up with PAD."
    rows = [torch.tensor(row, dtype=torch.long) for row in rows]
    return nn.utils.rnn.pad_sequence(rows, True, PAD)


def collate(group, device="cpu"):
    "The pairs of a group as a Batch, each side padded to its longest."
    if not group:
        raise ValueError("group has no pair")
    src, tgt = map(pad_rows, zip(*group))
    return Batch(src.to(device), tgt.to(device), PAD)


def choose_device(fp32=False):
    """The device to train on, and the dtype for autocast: None for float32.
    bfloat16 only where the hardware multiplies it faster, and no fp32."""
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        faster = torch.cuda.is_bf16_supported(including_emulation=False)
    elif torch.backends.mps.is_available():
        device, faster = torch.device("mps"), False
    else:
        device = torch.device("cpu")
        faster = torch.cpu.get_capabilities().get("amx_bf16", False)
    return device, torch.bfloat16 if faster and not fp32 else None


def keep_freed_memory():
    """On Linux, have malloc keep what is freed.  Large tensors come and go at
    every step, and getting them from the kernel anew takes time."""
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt"):
        libc = ctypes.CDLL(None)
        libc.mallopt(-4, 0)  # M_MMAP_MAX: no block apart from the heap
        libc.mallopt(-1, -1)  # M_TRIM_THRESHOLD: the heap never shrinks


def option(default, low, high, meaning):
    return field(
        default=default, metadata={"range": (low, high), "help": meaning}
    )


@dataclass
class Settings:
    "The sizes of the model, and the way it learns."

    vocab: int = option(2000, 260, 10**6, "subwords, for both languages")
    layers: int = option(2, 1, 100, "layers of the encoder, of the decoder")
    d_model: int = option(128, 2, 10**5, "features of a position")
    d_ff: int = option(256, 1, 10**6, "features inside the feed-forward part")
    heads: int = option(4, 1, 1000, "heads of an attention")
    dropout: float = option(0.1, 0, 0.9, "share dropped in training")
    smoothing: float = option(0.1, 0, 0.9, "label smoothing")
    max_tokens: int = option(512, 3, 10**7, "tokens a side of a batch")
    accum: int = option(1, 1, 10**6, "batches of an update")
    epochs: int = option(10, 1, 9999, "times to go through the data")
    warmup: int = option(200, 1, 10**7, "updates with a rising learning rate")
    factor: float = option(0.7, 1e-9, 1e9, "factor of the learning rate")
    clip: float = option(1.0, 1e-9, 1e9, "longest gradient of an update")
    seed: int = option(0, 0, 2**63 - 1, "seed of weights, order and dropout")

    def __post_init__(self):
        for f in fields(self):
            value, (low, high) = getattr(self, f.name), f.metadata["range"]
            if type(value) not in (int, f.type) or not low <= value <= high:
                raise ValueError(
                    f"{f.name} is {value!r}: it must be {f.type.__name__}, "
                    f"from {low} to {high}"
                )


def read_corpus(path):
    """The pairs to learn and to validate: train.tsv and valid.tsv of a folder,
    or one file, of whose sources 1 in 20, at most 1,000, is held out."""
    path = Path(path)
    if path.is_dir():
        return read_pairs(path / "train.tsv"), read_pairs(path / "valid.tsv")
    pairs = read_pairs(path)
    sources = list(dict.fromkeys(source for source, _ in pairs))
    if len(sources) < 2:
        raise ValueError(f"{path} has one source: none is left to validate")
    # Whole sources: one that is learned, too, would validate nothing.
    n = min(max(len(sources) // 20, 1), 1000)
    held_out = set(random.Random(0).sample(sources, n))
    return (
        [pair for pair in pairs if pair[0] not in held_out],
        [pair for pair in pairs if pair[0] in held_out],
    )


def encode_pairs(tokenizer, pairs):
    source, target = (encode(tokenizer, side) for side in zip(*pairs))
    return list(zip(source, target))


def build_model(settings, vocab):
    "The model of a run: one vocabulary, so the embeddings are tied."
    model = make_model(
        vocab,
        vocab,
        settings.layers,
        settings.d_model,
        settings.d_ff,
        settings.heads,
        settings.dropout,
    )
    tie_embeddings(model)
    # Xavier left a large vocabulary short vectors: make them as long as those
    # of the positions, and learning starts sooner.
    nn.init.normal_(model.generator.proj.weight, std=settings.d_model**-0.5)
    return model


def digest(value):
    "Tells a corpus or a record from another."
    return hashlib.sha256(repr(value).encode()).hexdigest()


def checksum(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def save_checkpoint(folder, model, tokenizer, record, optimizer=None):
    """Write a new folder: if the program dies, it is complete or not there.
    record: what else to remember, as JSON; with it go the checksums."""
    folder = Path(folder)
    if folder.exists():
        raise ValueError(f"{folder} exists already: name another")
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    # By parameter: a tied matrix is stored once, constants not at all.
    tensors = {n: p.detach().cpu() for n, p in model.named_parameters()}
    save_file(tensors, new / "model.safetensors")
    if optimizer is not None:
        tensors = {
            f"{name}/{key}": value.cpu()
            for name, p in model.named_parameters()
            for key, value in optimizer.state[p].items()
        }
        save_file(tensors, new / "optimizer.safetensors")
    tokenizer.save(str(new / "tokenizer.json"))
    sums = {path.name: checksum(path) for path in sorted(new.iterdir())}
    record = {**record, "sha256": sums}
    text = json.dumps({**record, "record": digest(record)}, indent=1)
    (new / "checkpoint.json").write_text(text + "\n", encoding="utf-8")
    new.rename(folder)


def load_checkpoint(folder):
    "The model, ready to use, its tokenizer, and the record of a checkpoint."
    folder = Path(folder)
    if not (folder / "checkpoint.json").is_file():
        raise ValueError(
            f"{folder} is no checkpoint: no checkpoint.json in it"
        )
    try:
        text = (folder / "checkpoint.json").read_text(encoding="utf-8")
        record = json.loads(text)
        if record.pop("record") != digest(record):
            raise ValueError("checkpoint.json is not what was saved")
        for name, expected in record["sha256"].items():
            if checksum(folder / name) != expected:
                raise ValueError(f"{name} is not what was saved")
        model = build_model(Settings(**record["settings"]), record["vocab"])
        tensors = load_file(folder / "model.safetensors")
        parameters = dict(model.named_parameters())
        if {n: t.shape for n, t in tensors.items()} != {
            n: p.shape for n, p in parameters.items()
        }:
            raise ValueError("model.safetensors does not fit the settings")
        if not all(t.isfinite().all() for t in tensors.values()):
            raise ValueError("model.safetensors: weights that are not finite")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        if tokenizer.get_vocab_size() != record["vocab"]:
            raise ValueError("tokenizer.json does not fit the settings")
    except Exception as error:  # tokenizers raises nothing more special
        raise ValueError(
            f"{folder} is damaged, or no checkpoint of this program: {error}"
        ) from None
    with torch.no_grad():
        for name, p in parameters.items():
            p.copy_(tensors[name])
    return model.eval(), tokenizer, record


def load_optimizer(folder, model, optimizer):
    "Put the state that save_checkpoint wrote into a new optimizer, in place."
    parameters = dict(model.named_parameters())
    for name, value in load_file(
        Path(folder) / "optimizer.safetensors"
    ).items():
        name, key = name.split("/")
        p = parameters[name]
        optimizer.state[p][key] = value.to(p.device)


def checkpoints(run):
    "The checkpoints in the folder of a run, oldest first."
    return sorted(Path(run).glob("epoch_" + 4 * "[0-9]"))


KEPT = 5  # checkpoints of a run: the last ones, to resume from or to average


def begin(data, out, settings, fp32=False):
    "Write epoch 0, an untrained model: so out is known to have the room."
    if checkpoints(out):
        raise ValueError(f"{out} has a run already: resume it or name another")
    learn, valid = read_corpus(data)
    texts = (text for pair in learn for text in pair)
    tokenizer = train_tokenizer(texts, settings.vocab)
    for pairs in (learn, valid):  # no pair may be too long
        group_by_length(encode_pairs(tokenizer, pairs), settings.max_tokens, 0)
    vocab = tokenizer.get_vocab_size()
    torch.manual_seed(settings.seed)
    model = build_model(settings, vocab)
    # A checkpoint is the weights and the two averages that Adam keeps.
    size = 3 * sum(p.nbytes for p in model.parameters())
    Path(out).mkdir(parents=True, exist_ok=True)
    needed, free = size * (KEPT + 1), shutil.disk_usage(out).free
    if free < needed:
        raise OSError(
            f"{out} has {free // 2**20} MB free; the checkpoints of this run "
            f"take {needed // 2**20 + 1} MB"
        )
    record = {
        "settings": asdict(settings),
        "fp32": fp32,
        "vocab": vocab,
        "data": digest((learn, valid)),
        "epoch": 0,
        "state": asdict(TrainState()),
        "history": [],
    }
    adam = torch.optim.Adam(model.parameters())
    save_checkpoint(Path(out) / "epoch_0000", model, tokenizer, record, adam)


def train(data, out, settings=None, fp32=False, log=print):
    """Learn to translate the pairs of data; each epoch leaves a checkpoint.
    Without settings, go on where the run in out stopped.  Under torchrun, each
    process takes its share of every batch.  Returns the last checkpoint."""
    keep_freed_memory()
    device, dtype = choose_device(fp32)
    rank = int(os.environ.get("RANK", 0))  # torchrun sets both
    world = int(os.environ.get("WORLD_SIZE", 1))
    if settings is not None and rank == 0:
        begin(data, out, settings, fp32)
    if world > 1:
        if device.type == "cuda":
            torch.cuda.set_device(device)
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        dist.barrier()  # the others wait until epoch 0 is written
    if not checkpoints(out):
        raise ValueError(f"{out} has no checkpoint to go on from")
    folder = checkpoints(out)[-1]
    model, tokenizer, record = load_checkpoint(folder)
    model.to(device)
    dtype = None if record["fp32"] else dtype
    settings = Settings(**record["settings"])
    state, vocab = TrainState(**record["state"]), record["vocab"]
    corpus = read_corpus(data)
    if digest(corpus) != record["data"]:
        raise ValueError(f"{data} is not the data that {out} began with")
    learn, valid = (encode_pairs(tokenizer, pairs) for pairs in corpus)

    def batches(pairs, seed, rank=0, world=1):
        "The batches of an epoch, or the share of a process in each."

        def share(group):
            nothing = [([END], [START, PAD])]  # where rows are too few
            batch = collate(group[rank::world] or nothing, device)
            batch.ntokens = sum(len(tgt) - 1 for _, tgt in group)
            return batch

        groups = group_by_length(pairs, settings.max_tokens, seed)
        return DataLoader(groups, batch_size=None, collate_fn=share)

    per_epoch = math.ceil(len(batches(learn, 0)) / settings.accum)
    updates = settings.epochs * per_epoch

    def lr(step):
        "The paper's rate, cooled to 0 at the last update."
        paper = rate(step, settings.d_model, settings.factor, settings.warmup)
        return paper * (1 - step / updates)

    adam = torch.optim.Adam(
        model.parameters(), 1.0, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    load_optimizer(folder, model, adam)
    adam.param_groups[0]["initial_lr"] = 1.0  # LambdaLR asks for it
    schedule = LambdaLR(adam, lr, last_epoch=state.accum_step - 1)
    smoothed, plain = (
        SimpleLossCompute(model.generator, LabelSmoothing(vocab, PAD, amount))
        for amount in (settings.smoothing, 0.0)
    )
    parallel = DistributedDataParallel(model) if world > 1 else model
    say = log if log and rank == 0 else lambda text: None
    say(
        f"{describe(device)}, {dtype or torch.float32}, {world} processes\n"
        f"{len(learn):,} pairs to learn, {len(valid):,} to validate, "
        f"{vocab:,} subwords, "
        f"{sum(p.numel() for p in model.parameters()):,} parameters"
    )
    for epoch in range(record["epoch"] + 1, settings.epochs + 1):
        start = time.perf_counter()
        # Only seed, epoch and process decide order and dropout, so a run
        # that was resumed takes the same way.
        seed = f"{settings.seed} {epoch}"
        torch.manual_seed(random.Random(f"{seed} {rank}").getrandbits(63))
        loss, state = run_epoch(
            batches(learn, seed, rank, world),
            parallel.train(),
            # DistributedDataParallel averages the gradients: we want the sum.
            lambda x, y, norm: smoothed(x, y, norm / world),
            adam,
            schedule,
            mode="train+log" if log and rank == 0 else "train",
            accum_iter=settings.accum,
            train_state=state,
            clip=settings.clip,
            autocast=torch.autocast(device.type, dtype, dtype is not None),
        )
        if world > 1:
            total = torch.tensor(loss, device=device)
            dist.all_reduce(total)
            loss = float(total)
        if rank > 0:
            continue
        model.eval()
        valid_loss, _ = run_epoch(
            batches(valid, 0), model, plain, None, None, mode="eval"
        )
        if not math.isfinite(loss + valid_loss):
            raise ValueError(
                f"the loss of epoch {epoch} is {loss}, {valid_loss} in "
                "validation: begin a new run, with a smaller factor or clip"
            )
        record["epoch"], record["state"] = epoch, asdict(state)
        record["history"].append([loss, valid_loss])
        folder = Path(out) / f"epoch_{epoch:04}"
        save_checkpoint(folder, model, tokenizer, record, adam)
        for old in checkpoints(out)[:-KEPT]:
            old.rename(f"{old}.old")  # half of one must not look whole
        for old in Path(out).glob("epoch_*.old"):
            shutil.rmtree(old)
        minutes = (time.perf_counter() - start) / 60
        say(
            f"epoch {epoch} of {settings.epochs}: loss {loss:.3f}, "
            f"in validation {valid_loss:.3f}, "
            f"{minutes * (settings.epochs - epoch):.0f} min left"
        )
    if world > 1:
        dist.destroy_process_group()
    return folder


def describe(device):
    "The device in words."
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type == "mps":
        return "Apple GPU (MPS)"
    return f"CPU, {torch.get_num_threads()} threads"


def translate(model, tokenizer, texts, beam=4):
    """Translate each text, in batches of similar length; beam 1 is greedy.
    A translation stops at about twice the length of its text."""
    device = next(model.parameters()).device
    limit = model.src_embed[1].pe.size(1)
    rows = encode(tokenizer, texts)
    for text, row in zip(texts, rows):
        if len(row) > limit:
            raise ValueError(
                f"{text[:20]!r}... has {len(row):,} subwords: this model "
                f"takes up to {limit:,}"
            )
    # Only texts of like size share a batch and a max_len, so that none of the
    # translations depends on the company it came in.
    by_size = {}
    for i, text in enumerate(texts):
        if text.strip():  # what is blank has no translation
            by_size.setdefault(math.ceil(len(rows[i]) / 16), []).append(i)
    batches = [
        (size, alike[start : start + 100])
        for size, alike in by_size.items()
        for start in range(0, len(alike), 100)
    ]
    result = ["" for _ in texts]
    for size, chosen in batches:
        src = pad_rows([rows[i] for i in chosen]).to(device)
        src_mask = (src != PAD).unsqueeze(-2)
        max_len = min(32 * size + 10, limit)
        if beam == 1:
            ids = greedy_decode(model, src, src_mask, max_len, START, END)
        else:
            ids, _ = beam_search(
                model, src, src_mask, max_len, START, END, beam
            )
        for i, text in zip(chosen, decode(tokenizer, ids.tolist())):
            result[i] = " ".join(text.split())  # one line, whatever it wrote
    return result


def evaluate(translations, references):
    "Corpus BLEU, its signature, and how many are right to the letter."
    if not 0 < len(translations) == len(references):
        raise ValueError(
            f"{len(translations)} translations have {len(references)} "
            "references: one or more are needed, and one for each"
        )
    bleu = BLEU()
    score = bleu.corpus_score(translations, [references]).score
    right = sum(a == b for a, b in zip(translations, references))
    return score, str(bleu.get_signature()), right


def average_checkpoints(folders, out):
    "Write a checkpoint whose weights are the mean of those of the folders."
    if not folders:
        raise ValueError("there is no checkpoint to average")
    model, tokenizer, record = load_checkpoint(folders[0])
    others = [load_checkpoint(folder) for folder in folders[1:]]
    for folder, (_, _, other) in zip(folders[1:], others):
        same = ("settings", "vocab", "data")
        if any(other.get(key) != record.get(key) for key in same):
            raise ValueError(
                f"{folder} and {folders[0]} are of two runs: only checkpoints "
                "of one can be averaged"
            )
    with torch.no_grad():
        for name, p in model.named_parameters():
            for other, _, _ in others:
                p += other.get_parameter(name)
            p /= len(folders)
    save_checkpoint(out, model, tokenizer, record)
    return model


@torch.no_grad()
def attention_maps(model, src, tgt):
    """Weights (layers, h, q, k) of the model for lists of ids, START to END:
    "encoder" source to source, "decoder" target to target, "source" across."""
    if model.training:
        raise ValueError("model is in training, with dropout: call eval()")
    parts = {
        "encoder": [layer.self_attn for layer in model.encoder.layers],
        "decoder": [layer.self_attn for layer in model.decoder.layers],
        "source": [layer.src_attn for layer in model.decoder.layers],
    }
    batch = collate([(src, tgt)], next(model.parameters()).device)
    every = [attn for part in parts.values() for attn in part]
    try:
        for attn in every:
            attn.need_weights = True
        model(batch.src, batch.tgt, batch.src_mask, batch.tgt_mask)
    finally:
        for attn in every:
            attn.need_weights = False
    return {
        name: torch.cat([attn.attn for attn in part]).cpu()
        for name, part in parts.items()
    }


def draw_attention(weights, rows, columns):
    "A figure of weights (layers, h, q, k), a panel a head, with its labels."
    from matplotlib import font_manager  # slow to import, and seldom needed
    from matplotlib.figure import Figure

    try:
        for font in find("tutorial/fonts").glob("*.otf"):
            font_manager.fontManager.addfont(font)
    except FileNotFoundError:
        pass  # outside the course the fonts of the system have to do
    if weights.dim() != 4 or weights.shape[2:] != (len(rows), len(columns)):
        raise ValueError(
            f"weights {weights.shape} are not (layers, h, {len(rows)} rows, "
            f"{len(columns)} columns)"
        )
    layers, h, q, k = weights.shape
    size = h * (0.25 * k + 1), layers * (0.25 * q + 1)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(layers, h, squeeze=False)
    fonts = ["DejaVu Sans", "Noto Sans KR"]
    for i, panel in enumerate(panels.flat):
        layer, head = divmod(i, h)
        shades = weights[layer, head].numpy()
        panel.imshow(shades, vmin=0, vmax=1, cmap="Blues")
        panel.set_title(f"layer {layer + 1}, head {head + 1}", fontsize=9)
        text = {"family": fonts, "parse_math": False}  # "$" is no formula
        panel.set_xticks(range(k), columns, rotation=90, **text)
        panel.set_yticks(range(q), rows, **text)
    return figure


def open_model(path):
    "The model at path: a checkpoint, or the last one of a run."
    path = find("models/ko-en") if path is None else Path(path)
    device, _ = choose_device()
    model, tokenizer, _ = load_checkpoint((checkpoints(path) or [path])[-1])
    return model.to(device), tokenizer


def train_command(options):
    given = {
        f.name: getattr(options, f.name)
        for f in fields(Settings)
        if hasattr(options, f.name)
    }
    fixed = [*given, *["fp32"] * options.fp32]
    if options.resume and fixed:
        raise ValueError(
            "--resume goes on with the settings of the run: leave out "
            + ", ".join(fixed)
        )
    data = find("data/ko-en") if options.data is None else options.data
    settings = None if options.resume else Settings(**given)
    train(data, options.out, settings, options.fp32)


def translate_command(options):
    model, tokenizer = open_model(options.model)
    if options.text is None:
        if options.attention:
            raise ValueError("--attention draws one sentence: give it")
        if sys.stdin is None:
            raise ValueError("there is no standard input: give a text")
        at_once = 1 if sys.stdin.isatty() else 1000
        sys.stdin.reconfigure(encoding="utf-8-sig")
        while lines := list(islice(sys.stdin, at_once)):
            lines = [line.rstrip("\r\n") for line in lines]
            for line in translate(model, tokenizer, lines, options.beam):
                print(line, flush=True)
        return
    text = options.text
    if not text.isascii():  # in a locale of ASCII it comes as lone surrogates
        text = text.encode("utf-8", "surrogateescape").decode("utf-8")
    (translation,) = translate(model, tokenizer, [text], options.beam)
    print(translation)
    if options.attention:
        src, tgt = encode(tokenizer, [text, translation])
        weights = attention_maps(model, src, tgt)["source"]
        # A row is of the token that it writes, not of the one it reads.
        rows, columns = (
            [tokenizer.id_to_token(i) for i in ids] for ids in (tgt[1:], src)
        )
        draw_attention(weights, rows, columns).savefig(options.attention)


def evaluate_command(options):
    model, tokenizer = open_model(options.model)
    data = options.data
    pairs = read_pairs(find("data/ko-en/test.tsv") if data is None else data)
    sources, references = map(list, zip(*pairs))
    translations = translate(model, tokenizer, sources, options.beam)
    score, signature, right = evaluate(translations, references)
    print(f"BLEU {score:.1f}  {signature}")
    print(f"{right:,} of {len(pairs):,} exactly right")


def average_command(options):
    average_checkpoints(options.checkpoints, options.out)


def main(arguments=None):
    "The command line: python transformer.py --help"
    parser = argparse.ArgumentParser(
        description="A Transformer that learns to translate, and translates."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(run, name, what):
        new = commands.add_parser(name, help=what, description=what)
        new.set_defaults(run=run)
        return new

    new = command(train_command, "train", "Learn from pairs of sentences.")
    new.add_argument(
        "--data",
        help="lines of a source, a tab and a target, or a folder with "
        "train.tsv and valid.tsv (default: the course's data/ko-en)",
    )
    new.add_argument("--out", required=True, help="folder of the run")
    new.add_argument(
        "--resume", action="store_true", help="go on where the run stopped"
    )
    new.add_argument(
        "--fp32", action="store_true", help="no bfloat16, even if faster"
    )
    for f in fields(Settings):
        new.add_argument(
            "--" + f.name.replace("_", "-"),
            type=f.type,
            default=argparse.SUPPRESS,
            help=f"{f.metadata['help']} (default: {f.default})",
        )
    new = command(average_command, "average", "Average checkpoints of a run.")
    new.add_argument("checkpoints", nargs="+", help="folders epoch_...")
    new.add_argument("--out", required=True, help="folder for the average")
    translating = command(
        translate_command, "translate", "Translate a sentence or many."
    )
    translating.add_argument(
        "text", nargs="?", help="without it: each line of standard input"
    )
    translating.add_argument(
        "--attention", metavar="FILE.png", help="draw who looked at what"
    )
    scoring = command(
        evaluate_command, "evaluate", "Compare translations with references."
    )
    scoring.add_argument(
        "--data",
        help="lines of a source, a tab and a target "
        "(default: the course's data/ko-en/test.tsv)",
    )
    for new in (translating, scoring):
        new.add_argument(
            "--model",
            help="a checkpoint or a run (default: the course's models/ko-en)",
        )
        new.add_argument(
            "--beam", type=int, default=4, help="1: greedy (default: 4)"
        )
    options = parser.parse_args(arguments)
    if hasattr(sys.stdout, "reconfigure"):  # a console may lack characters
        sys.stdout.reconfigure(errors="replace")
    try:
        options.run(options)
    except KeyboardInterrupt:
        sys.exit("\nstopped; train --resume goes on with a training")
    except UnicodeDecodeError:
        sys.exit("error: the text is not UTF-8: save the file as UTF-8")
    except (ValueError, OSError, SafetensorError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
