"""How fast the final file decodes, against greedy decoding as in textbooks.

    python data/fetch_multi30k.py
    python transformer.py train --data data/multi30k --out RUN ...
    python -m benchmarks.decoding RUN

First the 1,000 sentences of test_2016_flickr, with the same weights, by

    textbook    greedy_decode as steps 10 to 17 have it: one sentence, up to
                72 tokens, everything computed again for each (on every tenth
                sentence, times ten)
    stopping    the same, but stopped at the end token
    final       the last step's greedy_decode: batches, stop and cache

and the share of sentences whose tokens are the same.  Then what a token costs
as a sentence grows from 32 to 512 tokens.
"""

import argparse
import time

import torch

from benchmarks.machine import ROOT, final, load

textbook = load("steps/16_data/transformer.py")
START, END, PAD = final.START, final.END, final.PAD
LONGEST = 72


def textbook_decode(model, row):
    src = torch.tensor([row])
    src_mask = torch.ones(1, 1, len(row), dtype=torch.bool)
    ys = textbook.greedy_decode(model, src, src_mask, LONGEST, START)
    return until_end(ys[0].tolist())


def stopping_decode(model, row):
    src = torch.tensor([row])
    src_mask = torch.ones(1, 1, len(row), dtype=torch.bool)
    ids = [START]
    with torch.no_grad():
        memory = model.encode(src, src_mask)
        while len(ids) < LONGEST and ids[-1] != END:
            tgt_mask = textbook.subsequent_mask(len(ids))
            out = model.decode(memory, src_mask, torch.tensor([ids]), tgt_mask)
            ids.append(int(model.generator(out[:, -1]).argmax()))
    return until_end(ids)


def final_decode(model, rows):
    found = [None] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    for start in range(0, len(order), 100):
        chosen = order[start : start + 100]
        src = final.pad_rows([rows[i] for i in chosen])
        src_mask = (src != PAD).unsqueeze(-2)
        ys = final.greedy_decode(model, src, src_mask, LONGEST, START, END)
        for i, ids in zip(chosen, ys.tolist(), strict=True):
            found[i] = until_end(ids)
    return found


def until_end(ids):
    return ids[: ids.index(END) + 1] if END in ids else ids


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def growth(model, rows=16):
    "Milliseconds a token costs, by the length of what is decoded."
    src = torch.full((rows, 32), 300)
    src_mask = torch.ones(rows, 1, 32, dtype=torch.bool)
    costs = {}
    for length in (32, 64, 128, 256, 512):
        took = min(
            timed(
                lambda n=length: final.greedy_decode(
                    model, src, src_mask, n, START
                )
            )[1]
            for _ in range(3)
        )
        costs[length] = 1000 * took / (rows * length)
    return costs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", help="a checkpoint, or a run")
    parser.add_argument("--data", default=ROOT / "data/multi30k")
    options = parser.parse_args()
    folder = (final.checkpoints(options.model) or [options.model])[-1]
    model, tokenizer, record = final.load_checkpoint(folder)
    names = "layers", "d_model", "d_ff", "heads"
    sizes = [record["settings"][name] for name in names]
    slow = textbook.make_model(record["vocab"], record["vocab"], *sizes)
    slow.load_state_dict(model.state_dict())
    slow.eval()
    pairs = final.read_pairs(f"{options.data}/test_2016_flickr.tsv")
    rows = final.encode(tokenizer, [source for source, _ in pairs])
    final_decode(model, rows[:100])  # warm up
    fast, took = timed(lambda: final_decode(model, rows))
    stopping, stopping_took = timed(
        lambda: [stopping_decode(slow, row) for row in rows]
    )
    tenth, textbook_took = timed(
        lambda: [textbook_decode(slow, row) for row in rows[::10]]
    )
    textbook_took *= 10
    print(f"{final.describe(torch.device('cpu'))}, {len(rows):,} sentences")
    for name, seconds in (
        ("textbook", textbook_took),
        ("stopping", stopping_took),
        ("final", took),
    ):
        print(f"{name:10}{seconds:8.1f} s{seconds / took:8.1f} x final")
    same = sum(a == b for a, b in zip(fast, stopping, strict=True))
    print(f"the same tokens in {same:,} of {len(rows):,} sentences")
    assert tenth == stopping[::10]
    before = None
    for length, cost in growth(model).items():
        ratio = f"{cost / before:.2f} x" if before else ""
        print(f"{length:4} tokens: {cost:.3f} ms a token  {ratio}")
        before = cost


if __name__ == "__main__":
    main()
