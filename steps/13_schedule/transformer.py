"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017).
Numbers like (3.2.1) are its sections.  A mask is True where one may look."""

import copy
import math
import time
from dataclasses import dataclass
from itertools import islice

import torch
from torch import nn


def attention(query, key, value, mask=None, dropout=None):
    """Average the values by how well each key fits the query (3.2.1).
    Shapes: (..., q, d_k), (..., k, d_k), (..., k, d_v), mask (..., q, k)."""
    d_k = query.size(-1)
    if key.size(-1) != d_k or key.size(-2) != value.size(-2):
        raise ValueError(
            f"query {query.shape} and key {key.shape} must have equal d_k, "
            f"key and value {value.shape} equal lengths"
        )
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)  # (..., q, k)
    if mask is not None:
        if mask.is_floating_point() and (mask < 0).any():
            raise ValueError("mask has numbers below 0: 1 is visible, 0 not")
        try:
            hidden = (mask == 0).expand_as(scores)
        except RuntimeError:
            raise ValueError(
                f"mask {mask.shape} must broadcast to scores {scores.shape}"
            ) from None
        # The smallest finite number: -inf gives NaN where all is hidden.
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
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

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            if mask.dim() != 3:
                raise ValueError(f"mask {mask.shape} is not (batch, q, k)")
            mask = mask.unsqueeze(1)  # (batch, 1, 1 or q, k)
        query, key, value = [
            linear(x).unflatten(-1, (self.h, self.d_k)).transpose(1, 2)
            for linear, x in zip(self.linears, (query, key, value))
        ]  # each (batch, h, length, d_k)
        x, weights = attention(query, key, value, mask, self.dropout)
        self.attn = weights.detach()
        x = x.transpose(1, 2).flatten(2)  # (batch, q, d_model)
        return self.linears[-1](x)


class PositionwiseFeedForward(nn.Module):
    "Two linear maps and a ReLU, the same at each position (3.3)."

    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

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
    "Add sines and cosines of the position (3.5).  x: (batch, length, d_model)"

    def __init__(self, d_model, dropout, max_len=5000):
        super().__init__()
        if d_model < 2 or d_model % 2 != 0 or max_len < 1:
            raise ValueError(
                f"d_model is {d_model}, max_len {max_len}: an even number "
                "and at least 1 are needed"
            )
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len).double().unsqueeze(1)
        period = 10000 ** (torch.arange(0, d_model, 2).double() / d_model)
        angle = position / period  # (max_len, d_model / 2)
        pe = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        self.register_buffer("pe", pe.float().unsqueeze(0))

    def forward(self, x):
        length, max_len = x.size(1), self.pe.size(1)
        if length > max_len:
            raise ValueError(f"length {length} is over max_len, {max_len}")
        if x.shape[2:] != self.pe.shape[2:]:
            raise ValueError(
                f"x {x.shape} is not (batch, length, {self.pe.size(2)})"
            )
        return self.dropout(x + self.pe[:, :length])


class LayerNorm(nn.Module):
    """Give each position mean 0 and deviation 1, then scale and shift (3.1).
    x: (..., features).  The deviation is over n - 1, unlike nn.LayerNorm's."""

    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        std, mean = torch.std_mean(x, dim=-1, keepdim=True)  # each (..., 1)
        return self.a_2 * (x - mean) / (std + self.eps) + self.b_2


class SublayerConnection(nn.Module):
    """Pre-LN: x + dropout(sublayer(norm(x))).  x: (..., size)
    The paper has Post-LN: norm(x + dropout(sublayer(x))) (3.1, 5.4)."""

    def __init__(self, size, dropout):
        super().__init__()
        self.norm = LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

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


@torch.no_grad()
def greedy_decode(model, src, src_mask, max_len, start_symbol):
    """Begin with start_symbol and add the likeliest token, time and again.
    src: ids (batch, s) -> ids (batch, max_len), the start included."""
    if max_len < 1:
        raise ValueError(f"max_len is {max_len}: the start alone takes 1")
    memory = model.encode(src, src_mask)
    ys = src.new_full((src.size(0), 1), start_symbol)
    while ys.size(1) < max_len:
        tgt_mask = subsequent_mask(ys.size(1)).to(src.device)
        out = model.decode(memory, src_mask, ys, tgt_mask)
        log_p = model.generator(out[:, -1])  # (batch, vocab)
        ys = torch.cat([ys, log_p.argmax(-1, keepdim=True)], dim=1)
    return ys


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
):
    """Go through the batches once; return the loss per token and the state.
    mode: "train", "train+log" or "eval"; accum_iter batches make an update."""
    if mode not in ("train", "train+log", "eval"):
        raise ValueError(f"mode is {mode!r}, not train, train+log or eval")
    if accum_iter < 1:
        raise ValueError(f"accum_iter is {accum_iter}: it must be at least 1")
    training = mode != "eval"
    state = TrainState() if train_state is None else train_state
    total_loss, total_tokens, start = 0.0, 0, time.perf_counter()
    batches = iter(data_iter)
    while group := list(islice(batches, accum_iter)):
        # All tokens of an update count alike, however they are batched.
        ntokens = sum(batch.ntokens for batch in group)
        if ntokens == 0:
            raise ValueError("tgt_y is all padding: nothing to learn from")
        if training:
            optimizer.zero_grad(set_to_none=True)
        for batch in group:
            with torch.set_grad_enabled(training):
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
            optimizer.step()
            scheduler.step()
            state.accum_step += 1
        if mode == "train+log":
            pace = total_tokens / (time.perf_counter() - start)
            print(
                f"\r{state.accum_step} updates, "
                f"loss {total_loss / total_tokens:.3f}, {pace:,.0f} tokens/s",
                end="",
                flush=True,
            )
    if mode == "train+log":
        done = f"{state.accum_step} updates, {state.tokens:,} tokens"
        print("\r" + done.ljust(60))
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
