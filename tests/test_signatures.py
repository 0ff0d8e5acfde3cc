"""Names and signatures are those of the original."""

import inspect

import pytest

from tests.snapshots import load

SIGNATURES = {
    3: {
        "attention": "(query, key, value, mask=None, dropout=None)",
        "subsequent_mask": "(size)",
        "clones": "(module, N)",
        "MultiHeadedAttention": "(h, d_model, dropout=0.1)",
    },
    4: {"PositionwiseFeedForward": "(d_model, d_ff, dropout=0.1)"},
    5: {
        "Embeddings": "(d_model, vocab)",
        "PositionalEncoding": "(d_model, dropout, max_len=5000)",
    },
    6: {
        "LayerNorm": "(features, eps=1e-06)",
        "SublayerConnection": "(size, dropout)",
    },
    7: {
        "EncoderLayer": "(size, self_attn, feed_forward, dropout)",
        "Encoder": "(layer, N)",
    },
    8: {
        "DecoderLayer": "(size, self_attn, src_attn, feed_forward, dropout)",
        "Decoder": "(layer, N)",
    },
    9: {
        "Generator": "(d_model, vocab)",
        "EncoderDecoder": "(encoder, decoder, src_embed, tgt_embed, "
        "generator)",
        "make_model": "(src_vocab, tgt_vocab, N=6, d_model=512, d_ff=2048, "
        "h=8, dropout=0.1)",
        "tie_embeddings": "(model)",
    },
    10: {"greedy_decode": "(model, src, src_mask, max_len, start_symbol)"},
    11: {"Batch": "(src, tgt=None, pad=2)"},
    12: {
        "run_epoch": "(data_iter, model, loss_compute, optimizer, scheduler, "
        "mode='train', accum_iter=1, train_state=None)",
    },
    13: {"rate": "(step, model_size, factor, warmup)"},
    14: {"LabelSmoothing": "(size, padding_idx, smoothing=0.0)"},
    15: {
        "data_gen": "(V, batch_size, nbatches)",
        "SimpleLossCompute": "(generator, criterion)",
    },
}


@pytest.mark.parametrize("number", SIGNATURES)
def test_signatures_are_those_of_the_original(number):
    transformer = load(number)
    for names in (SIGNATURES[n] for n in SIGNATURES if n <= number):
        for name, signature in names.items():
            found = inspect.signature(getattr(transformer, name))
            assert str(found) == signature, name
