"""How good a translator gets, in how much time and memory.

    python -m benchmarks.translators ko-en
    python data/fetch_multi30k.py
    python -m benchmarks.translators multi30k

Trains in a new folder under build/benchmarks/ (--out names another), then
translates the test sets, greedily and with a beam of 4.
"""

import argparse
import sys
import time

from benchmarks.machine import ROOT, final

RUNS = {
    "ko-en": (
        final.Settings(dropout=0.0, smoothing=0.0, epochs=2),
        ["test.tsv", "new.tsv"],
    ),
    "multi30k": (
        final.Settings(
            vocab=4000,
            layers=3,
            d_model=256,
            d_ff=512,
            max_tokens=384,
            warmup=1500,
            factor=0.8,
            epochs=11,
        ),
        ["test_2016_flickr.tsv"],
    ),
}


def peak_memory():
    "Of this process so far, in GB; None on Windows."
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e9 if sys.platform == "darwin" else 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("--data", help="folder (default: data/RUN)")
    parser.add_argument("--out", help="folder of the run")
    options = parser.parse_args()
    data = options.data or ROOT / "data" / options.run
    out = options.out or ROOT / "build/benchmarks" / options.run
    settings, tests = RUNS[options.run]
    start = time.perf_counter()
    folder = final.train(data, out, settings)
    print(f"trained in {(time.perf_counter() - start) / 60:.1f} min")
    if (memory := peak_memory()) is not None:
        print(f"peak memory {memory:.2f} GB")
    model, tokenizer, _ = final.load_checkpoint(folder)
    for test in tests:
        pairs = final.read_pairs(f"{data}/{test}")
        sources, references = map(list, zip(*pairs, strict=True))
        for beam in (1, 4):
            start = time.perf_counter()
            found = final.translate(model, tokenizer, sources, beam)
            took = time.perf_counter() - start
            score, signature, right = final.evaluate(found, references)
            print(
                f"{test}, beam {beam}: BLEU {score:.2f}, "
                f"{right / len(pairs):.1%} exactly right, {took:.1f} s"
            )
    print(signature)


if __name__ == "__main__":
    main()
