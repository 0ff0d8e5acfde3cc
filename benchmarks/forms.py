"""What each fast form of step 17 brings: the final file against itself, with
one form at a time put back as step 16 has it.

    python -m benchmarks.forms

Rows are seconds of processor time for the same batches of data/ko-en: the
least of several turns, which the variants take one after another.
"""

import time

import torch
from torch import nn

from benchmarks.machine import ROOT, final, load

teaching = load("steps/16_data/transformer.py")
VOCAB, MAX_TOKENS, TURNS = 4000, 2048, 4
SIZES = VOCAB, VOCAB, 4, 128, 256, 4, 0.1


def with_dropout(model):
    for part in model.modules():
        if isinstance(part, final.Dropout):
            part.__class__ = nn.Dropout


def with_norms(model):
    for part in model.modules():
        if isinstance(part, final.LayerNorm):
            part.__class__ = teaching.LayerNorm


def with_weights(model):
    for part in model.modules():
        if isinstance(part, final.MultiHeadedAttention):
            part.need_weights = True


def everything(model):
    with_dropout(model)
    with_norms(model)
    with_weights(model)


def learner(batches, change=lambda model: None, loss=final, fused=True):
    """A function that learns from the batches and returns its seconds."""
    torch.manual_seed(0)
    model = final.tie_embeddings(final.make_model(*SIZES)).train()
    change(model)
    compute = loss.SimpleLossCompute(
        model.generator, loss.LabelSmoothing(VOCAB, final.PAD, 0.1)
    )
    adam = torch.optim.Adam(model.parameters(), 1e-4, fused=fused)
    flat = torch.optim.lr_scheduler.ConstantLR(adam, 1.0)

    def learn():
        start = time.process_time()
        final.run_epoch(batches, model, compute, adam, flat)
        return time.process_time() - start

    return learn


def fastest(variants):
    for learn in variants.values():
        learn()  # the first is always slower
    turns = [
        {name: learn() for name, learn in variants.items()}
        for _ in range(TURNS)
    ]
    return {name: min(turn[name] for turn in turns) for name in variants}


def main():
    torch.set_num_threads(1)
    pairs = final.read_pairs(ROOT / "data/ko-en/train.tsv")[:4000]
    texts = (text for pair in pairs for text in pair)
    tokenizer = final.train_tokenizer(texts, VOCAB)
    ids = final.encode_pairs(tokenizer, pairs)
    groups = final.group_by_length(ids, MAX_TOKENS, seed=0)[:6]
    batches = [final.collate(group) for group in groups]
    variants = {
        "nothing": learner(batches),
        "attention that stores its weights": learner(batches, with_weights),
        "LayerNorm in single steps": learner(batches, with_norms),
        "nn.Dropout": learner(batches, with_dropout),
        "loss with a target distribution": learner(batches, loss=teaching),
        "Adam, not fused": learner(batches, fused=False),
        "all of these": learner(batches, everything, teaching, False),
    }
    before = fastest({"freed": variants["nothing"]})["freed"]
    final.keep_freed_memory()
    seconds = fastest(variants)
    best = seconds["nothing"]
    tokens = sum(int(batch.ntokens) for batch in batches)
    print(f"1 thread, {tokens:,} target tokens, put back:")
    for name, took in seconds.items():
        print(f"{name:36}{took:7.2f} s{took / best:7.2f} x")
    print(
        f"{'freed memory given back':36}{before:7.2f} s{before / best:7.2f} x"
    )


if __name__ == "__main__":
    main()
