"""How fast the base model learns, beside what it can be measured by.

    python data/fetch_multi30k.py
    python -m benchmarks.training

Four rows, in target tokens a second, padding not counted:

    a  step 15 as a textbook uses it: 32 sentences, padded to 72
    b  torch.nn.Transformer, on batches of ours
    c  transformer.py, on the same batches
    d  what this machine would reach if it did nothing but the matrix products

Each row lives in a process of its own; they take turns, batch by batch, so
that all of them meet the same moods of the machine.  A row is its median.
"""

import argparse
import itertools
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.machine import ROOT, final, load

N, D_MODEL, D_FF, HEADS, DROPOUT, SMOOTHING = 6, 512, 2048, 8, 0.1, 0.1
VOCAB, MAX_TOKENS, PADDED_TO, ROUNDS = 8000, 2048, 72, 8
PAD = final.PAD


class TorchTransformer(nn.Module):
    """torch.nn.Transformer between the course's embeddings and generator."""

    def __init__(self):
        super().__init__()
        self.src_embed, self.tgt_embed = (
            nn.Sequential(
                final.Embeddings(D_MODEL, VOCAB),
                final.PositionalEncoding(D_MODEL, DROPOUT),
            )
            for _ in range(2)
        )
        self.core = nn.Transformer(
            D_MODEL,
            HEADS,
            N,
            N,
            D_FF,
            DROPOUT,
            batch_first=True,
            norm_first=True,
        )
        self.generator = final.Generator(D_MODEL, VOCAB)

    def forward(self, src, tgt, src_mask, tgt_mask):
        hidden = ~src_mask.squeeze(1)
        return self.core(
            self.src_embed(src),
            self.tgt_embed(tgt),
            tgt_mask=~final.subsequent_mask(tgt.size(1))[0],
            src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
            tgt_key_padding_mask=tgt == PAD,
            tgt_is_causal=True,
        )


class TorchLoss:
    def __init__(self, generator):
        self.proj = generator.proj

    def __call__(self, x, y, norm):
        loss = F.cross_entropy(
            self.proj(x).flatten(0, 1),
            y.flatten(),
            ignore_index=PAD,
            label_smoothing=SMOOTHING,
            reduction="sum",
        )
        return loss.detach(), loss / norm


def textbook_batch(pairs):
    """32 pairs, each side padded to 72, as step 15's Batch."""
    full = [PAD] * PADDED_TO
    src, tgt = (
        final.pad_rows([*side, full])[:-1] for side in zip(*pairs, strict=True)
    )
    return final.Batch(src, tgt, PAD)


def begin(row, groups):
    """Build in this process what the row needs; `turn` then uses it."""
    global learn
    torch.manual_seed(0)
    module, fused, autocast = final, True, None
    if row == "a":
        module, fused = load("steps/15_copy_task/transformer.py"), False
    if row in ("c", "c in bfloat16"):
        final.keep_freed_memory()  # as train does
    if row == "c in bfloat16":
        autocast = torch.autocast("cpu", torch.bfloat16)
    if row == "b":
        model = TorchTransformer()
        compute = TorchLoss(model.generator)
    else:
        sizes = VOCAB, VOCAB, N, D_MODEL, D_FF, HEADS, DROPOUT
        model = module.make_model(*sizes)
        compute = module.SimpleLossCompute(
            model.generator, module.LabelSmoothing(VOCAB, PAD, SMOOTHING)
        )
    final.tie_embeddings(model)
    adam = torch.optim.Adam(
        model.parameters(), 1.0, betas=(0.9, 0.98), eps=1e-9, fused=fused
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        adam, lambda step: final.rate(step, D_MODEL, 1.0, 4000)
    )
    options = {} if autocast is None else {"autocast": autocast}
    make = textbook_batch if row == "a" else final.collate
    batches = [make(group) for group in groups]
    model.train()

    def learn(i):
        start = time.perf_counter()
        module.run_epoch(
            [batches[i]], model, compute, adam, schedule, **options
        )
        return int(batches[i].ntokens) / (time.perf_counter() - start)

    learn(0)  # the first is always slower


def turn(i):
    return learn(i)


def operations(batch):
    """Multiplications and additions that a batch needs, backward included."""
    src, tgt = int(batch.src_mask.sum()), int(batch.ntokens)
    lengths = batch.src_mask.sum(dim=-1).flatten()
    written = (batch.tgt != PAD).sum(dim=-1)
    looks = (lengths**2).sum() + (lengths * written).sum()
    looks += batch.tgt_mask.sum()
    square, feed_forward = D_MODEL**2, 2 * D_MODEL * D_FF
    products = N * src * (4 * square + feed_forward)  # the encoder
    products += N * tgt * (6 * square + feed_forward)  # the decoder
    products += N * src * 2 * square  # keys and values of memory
    products += N * 2 * D_MODEL * int(looks)
    products += tgt * D_MODEL * VOCAB
    return 3 * 2 * products  # a product is two; backward is twice forward


def matrix_rate():
    """Operations a second in large products of float32 matrices."""
    a, b = torch.randn(2, 4096, 4096)
    a @ b
    start = time.perf_counter()
    a @ b
    return 2 * 4096**3 / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=ROOT / "data/multi30k")
    options = parser.parse_args()
    pairs = final.read_pairs(Path(options.data) / "train.tsv")
    tokenizer = final.train_tokenizer(itertools.chain(*pairs), VOCAB)
    ids = [
        pair
        for pair in final.encode_pairs(tokenizer, pairs)
        if max(map(len, pair)) <= PADDED_TO  # a textbook drops the others
    ]
    ours = final.group_by_length(ids, MAX_TOKENS, seed=0)[:ROUNDS]
    textbook = [ids[32 * i : 32 * (i + 1)] for i in range(ROUNDS)]
    rows = {"a": textbook, "b": ours, "c": ours}
    device, dtype = final.choose_device()
    if dtype is not None and device.type == "cpu":
        rows["c in bfloat16"] = ours
    needed = [
        operations(batch) / int(batch.ntokens)
        for batch in map(final.collate, ours)
    ]
    spawn = get_context("spawn")
    workers = {
        row: ProcessPoolExecutor(1, spawn, begin, (row, groups))
        for row, groups in rows.items()
    }
    rates = {row: [] for row in [*rows, "d"]}
    for worker in workers.values():
        worker.submit(turn, 0).result()
    for i in range(ROUNDS):
        for row, worker in workers.items():
            rates[row].append(worker.submit(turn, i).result())
        rates["d"].append(matrix_rate() / needed[i])
    print(f"{final.describe(torch.device('cpu'))}, {VOCAB:,} subwords")
    medians = {row: statistics.median(rates[row]) for row in rates}
    for row, rate in medians.items():
        print(
            f"{row:13} {rate:7,.0f} tokens/s {rate / medians['a']:6.1f} x a"
            f" {rate / medians['b']:6.2f} x b {rate / medians['d']:6.0%} of d"
        )


if __name__ == "__main__":
    main()
