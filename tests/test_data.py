"""Step 16 on: sentences from a file, subwords, and batches of them."""

import inspect
import json
import math
import os
import random
import re
import subprocess
import sys
import unicodedata

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.snapshots import load, since

seeds = st.integers(0, 999)

# Pairs, as a tokenizer's ids: what a test needs of them is their lengths.
corpora = st.lists(
    st.tuples(st.integers(2, 12), st.integers(2, 12)), min_size=1, max_size=40
).map(
    lambda lengths: [
        ([100 + i] * src, [100 + i] * tgt)
        for i, (src, tgt) in enumerate(lengths)
    ]
)

# All that can stand in a text but for two things.  U+2581 is the sign that
# the tokenizer writes for a space, so it comes back as one.  Of characters
# that this Python does not know yet, the tokenizer may know a composed form.
characters = st.characters(
    exclude_categories=["Cs", "Cn"], exclude_characters="\u2581"
)
# The tokenizer composes (NFC), and a word begins with a space, written or not:
# a space before the first is lost.  No sentence of read_pairs has one.
texts = (
    st.text(characters)
    .map(lambda text: unicodedata.normalize("NFC", text))
    .filter(lambda text: not text.startswith(" "))
)

KOREAN = ["나는 어제 산 책을 읽었다.", "그는 책을 읽지 않았다.", "책을 샀니?"]
ENGLISH = ["I read the book I bought yesterday.", "He did not read the book."]
SENTENCES = KOREAN + ENGLISH


def file_of(tmp_path, content, encoding="utf-8"):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(content.encode(encoding))
    return path


def trained(transformer, texts=SENTENCES, vocab_size=330):
    return transformer.train_tokenizer(texts, vocab_size)


def pieces(tokenizer):
    """The pieces in the order of their ids, which have no gap."""
    return list(map(tokenizer.id_to_token, range(tokenizer.get_vocab_size())))


def back(transformer, tokenizer, text):
    """The text as ids, as text again."""
    return transformer.decode(
        tokenizer, transformer.encode(tokenizer, [text])
    )[0]


# find


@since(16)
def test_a_file_of_the_course_is_found_upward(transformer):
    assert transformer.find("steps/SHA256SUMS").is_file()
    with pytest.raises(FileNotFoundError, match="no/such.tsv is in no folder"):
        transformer.find("no/such.tsv")


# read_pairs


@since(16)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("last", [True, False])
def test_lines_may_end_in_any_way(transformer, tmp_path, end, last):
    text = end.join(["책\tbook", "집\thouse"]) + end * last
    pairs = transformer.read_pairs(file_of(tmp_path, text))
    assert pairs == [("책", "book"), ("집", "house")]


@since(16)
def test_a_byte_order_mark_is_no_text(transformer, tmp_path):
    path = file_of(tmp_path, "책\tbook\n", "utf-8-sig")
    assert transformer.read_pairs(path) == [("책", "book")]


@since(16)
def test_blank_lines_and_blanks_around_a_side_do_not_count(
    transformer, tmp_path
):
    text = "\n \n  책 \t book  \n\t\n\n\u3000\n 두 집\ttwo houses\n\n"
    pairs = transformer.read_pairs(file_of(tmp_path, text))
    assert pairs == [("책", "book"), ("두 집", "two houses")]


@since(16)
def test_decomposed_hangul_is_composed(transformer, tmp_path):
    """As macOS writes names of files: a letter of its own for each sound."""
    apart = unicodedata.normalize("NFD", "각을 읽었다\tcafé\n")
    assert len(apart) > 20
    pairs = transformer.read_pairs(file_of(tmp_path, apart))
    assert pairs == [("각을 읽었다", "café")]


@since(16)
@pytest.mark.parametrize(
    "line", ["no tab", "a\tb\tc", "\tno source", "no target\t", "a\t\tb"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
def test_a_line_of_another_form_is_named(transformer, tmp_path, line, end):
    """Empty lines count too: the number is that which an editor shows."""
    text = end.join(["a\tb", "", line, "c\td", line])
    path = file_of(tmp_path, text)
    with pytest.raises(
        ValueError, match=r"lines 3, 5 \(2 in all\).*tab"
    ) as error:
        transformer.read_pairs(path)
    assert str(path) in str(error.value)


@since(16)
@pytest.mark.parametrize(
    "n, named", [(5, "2, 3, 4, 5, 6"), (6, "2, 3, 4, 5, 6, ...")]
)
def test_the_first_five_wrong_lines_are_named(transformer, tmp_path, n, named):
    path = file_of(tmp_path, "a\tb\n" + n * "wrong\n")
    match = re.escape(f"lines {named} ({n} in all)")
    with pytest.raises(ValueError, match=match):
        transformer.read_pairs(path)


@since(16)
def test_another_encoding_is_named_with_its_line(transformer, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes("a\tb\n책\tbook\n".encode() + "집\tx".encode("cp949"))
    with pytest.raises(ValueError, match="line 3: not UTF-8.*save") as error:
        transformer.read_pairs(path)
    assert str(path) in str(error.value)
    path.write_bytes("\n집\tx".encode("cp949"))
    with pytest.raises(ValueError, match="line 2: not UTF-8"):
        transformer.read_pairs(path)


@since(16)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["책\tbook\n", "das Haus\tthe house\n"])
def test_16_bit_text_is_refused(transformer, tmp_path, encoding, text):
    path = file_of(tmp_path, text, encoding)
    with pytest.raises(
        ValueError, match="save the file as UTF-8|lines .* are not"
    ):
        transformer.read_pairs(path)


@since(16)
@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", " \t \r\n"])
def test_a_file_without_pairs_is_refused(transformer, tmp_path, content):
    path = file_of(tmp_path, content)
    with pytest.raises(ValueError, match="no line") as error:
        transformer.read_pairs(path)
    assert str(path) in str(error.value)


@since(16)
def test_a_file_that_is_not_there_is_named(transformer, tmp_path):
    with pytest.raises(OSError, match="nowhere.tsv"):
        transformer.read_pairs(tmp_path / "nowhere.tsv")


lines = st.text(
    st.characters(
        exclude_categories=["Cs", "Cn"], exclude_characters="\t\r\n\0\ufeff"
    ),
    max_size=9,
)
sides = lines.map(
    lambda side: unicodedata.normalize("NFC", side).strip()
).filter(bool)


@since(16)
@given(pairs=st.lists(st.tuples(sides, sides), min_size=1, max_size=5))
def test_what_is_written_is_read(transformer, tmp_path_factory, pairs):
    """A pair a line, whatever other characters are in it: no separator of
    Unicode, such as U+2028, ends a line."""
    text = "".join(f"{src}\t{tgt}\n" for src, tgt in pairs)
    path = file_of(tmp_path_factory.mktemp("read"), text)
    assert transformer.read_pairs(path) == pairs


# train_tokenizer, encode and decode


@since(16)
@given(text=texts)
def test_no_text_is_lost(transformer, text):
    tokenizer = trained(transformer)
    assert back(transformer, tokenizer, text) == text


hard = ["", "책", "두  칸", "끝 ", "\t", "a\nb", "뷁", "!?...", "\0", "\ufffd"]
hard += ["\U0001f469\u200d\U0001f467", "x" * 300, "<s>", "<0x41>", "\u3000"]


@since(16)
@pytest.mark.parametrize("text", hard, ids=ascii)
def test_nor_is_a_text_that_is_hard(transformer, text):
    assert back(transformer, trained(transformer), text) == text


@since(16)
def test_what_is_not_kept_of_a_text(transformer):
    """Three things, which the tests above leave out."""
    tokenizer = trained(transformer)
    assert back(transformer, tokenizer, " 책") == "책"
    assert back(transformer, tokenizer, "책\u2581집") == "책 집"
    apart = unicodedata.normalize("NFD", "책")
    assert back(transformer, tokenizer, apart) == "책"


@since(16)
def test_an_unknown_character_becomes_its_bytes(transformer):
    tokenizer = trained(transformer)
    (ids,) = transformer.encode(tokenizer, ["책뷁"])
    found = [tokenizer.id_to_token(i) for i in ids]
    expected = [f"<0x{byte:02X}>" for byte in "뷁".encode()]
    assert found == ["<s>", "▁책", *expected, "</s>"]


@since(16)
def test_no_text_spells_a_special_piece(transformer):
    """Not even if the text to learn from is full of them."""
    names = " ".join(transformer.SPECIAL)
    assert "<s> </s> <blank> <0x00>" in names
    tokenizer = trained(transformer, 5 * [names, *transformer.SPECIAL], 700)
    assert pieces(tokenizer)[: len(transformer.SPECIAL)] == transformer.SPECIAL
    for row in transformer.encode(tokenizer, [names, *transformer.SPECIAL]):
        assert min(row[1:-1]) >= len(transformer.SPECIAL)


@since(16)
def test_the_first_ids_are_start_end_and_padding(transformer):
    tokenizer = trained(transformer)
    assert (transformer.START, transformer.END, transformer.PAD) == (0, 1, 2)
    assert pieces(tokenizer)[:4] == ["<s>", "</s>", "<blank>", "<0x00>"]
    assert len(set(pieces(tokenizer))) == tokenizer.get_vocab_size()


@since(16)
def test_a_frequent_word_is_one_piece(transformer):
    tokenizer = trained(transformer, 9 * ["책을 읽었다."], 300)
    (ids,) = transformer.encode(tokenizer, ["책을 읽었다."])
    found = [tokenizer.id_to_token(i) for i in ids[1:-1]]
    assert found == ["▁책을", "▁읽었다", "."]


@since(16)
@given(st.lists(st.text("abcde "), max_size=9), st.integers(330, 400))
def test_the_vocabulary_is_as_large_as_asked_at_most(
    transformer, texts, vocab_size
):
    tokenizer = trained(transformer, SENTENCES + texts, vocab_size)
    assert tokenizer.get_vocab_size() <= vocab_size


@since(16)
def test_a_vocabulary_with_no_room_for_the_characters_is_refused(transformer):
    """It would be larger than asked, or have characters that are bytes."""
    hangul = "".join(map(chr, range(0xAC00, 0xAC00 + 1000)))
    with pytest.raises(ValueError, match="vocab_size is 1000.*1,?2\\d\\d"):
        transformer.train_tokenizer([hangul], 1000)


@since(16)
@pytest.mark.parametrize("vocab_size", [-1, 0, 2, 259])
def test_a_vocabulary_of_bytes_alone_is_refused(transformer, vocab_size):
    with pytest.raises(ValueError, match=f"vocab_size is {vocab_size}.*259"):
        trained(transformer, SENTENCES, vocab_size)


def many_words():
    """Most of them as frequent as others, so that ties must be broken."""
    order = random.Random(0)
    return [
        " ".join("".join(order.choices("abcdefgh", k=4)) for _ in range(5))
        for _ in range(300)
    ]


def test_the_same_texts_give_the_same_subwords_in_any_process():
    """Whatever number of threads the tokenizer counts words with.  The code
    of train_tokenizer alone starts much sooner than the file, with PyTorch."""
    code = (
        "import json, sys\n"
        "from tokenizers import *\n"
        "from tokenizers import models, trainers\n"
        f"SPECIAL = {load(16).SPECIAL}\n"
        f"{inspect.getsource(load(16).train_tokenizer)}\n"
        "tokenizer = train_tokenizer(json.load(sys.stdin), 600)\n"
        "print(tokenizer.to_str(), end='')"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(many_words()),
        env={
            **os.environ,
            "RAYON_NUM_THREADS": "3",
            "PYTHONHASHSEED": "7",
            "PYTHONIOENCODING": "utf-8",
        },
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    ).stdout
    for number in (16, 17, 18):
        here = load(number).train_tokenizer(iter(many_words()), 600)
        assert here.to_str() == elsewhere
        assert here.get_vocab_size() == 600


@since(16)
def test_a_row_goes_from_start_to_end(transformer):
    tokenizer = trained(transformer)
    rows = transformer.encode(tokenizer, (text for text in SENTENCES))
    assert len(rows) == len(SENTENCES)
    for row in [*rows, *transformer.encode(tokenizer, [""])]:
        assert (row[0], row[-1]) == (transformer.START, transformer.END)
        assert not {transformer.START, transformer.END} & set(row[1:-1])
    assert transformer.encode(tokenizer, []) == []


@since(16)
def test_text_stops_before_the_first_end(transformer):
    tokenizer = trained(transformer)
    book, house = transformer.encode(tokenizer, ["책을", "읽었다."])
    rows = [book + house[1:], book[1:], book[:-1], book + [2, 2], [2, *book]]
    rows += [[0, 1], []]
    expected = 5 * ["책을"] + ["", ""]
    assert transformer.decode(tokenizer, rows) == expected
    tensor = torch.tensor([book, book])
    assert transformer.decode(tokenizer, tensor) == 2 * ["책을"]
    assert transformer.decode(tokenizer, []) == []


@since(16)
@given(st.lists(st.integers(0, 319), max_size=9))
def test_any_ids_have_a_text(transformer, ids):
    """Also bytes that are no UTF-8: what a model says may be nonsense."""
    tokenizer = trained(transformer, SENTENCES, 320)
    (text,) = transformer.decode(tokenizer, [ids])
    assert isinstance(text, str)


# group_by_length


@since(16)
@given(corpora, st.integers(12, 60), seeds)
def test_every_pair_is_in_one_group(transformer, pairs, max_tokens, seed):
    groups = transformer.group_by_length(pairs, max_tokens, seed)
    assert sorted(pair for group in groups for pair in group) == sorted(pairs)
    assert all(groups)


@since(16)
@given(corpora, st.integers(12, 60), seeds)
def test_a_group_has_max_tokens_a_side_with_padding(
    transformer, pairs, max_tokens, seed
):
    for group in transformer.group_by_length(pairs, max_tokens, seed):
        batch = transformer.collate(group)
        assert batch.src.numel() <= max_tokens
        assert batch.tgt.size(0) * (batch.tgt.size(1) + 1) <= max_tokens


@since(16)
@given(corpora, st.integers(12, 60), seeds)
def test_a_group_is_of_similar_length_and_full(
    transformer, pairs, max_tokens, seed
):
    """Side by side the groups are the sorted corpus, and no group has room
    for the next pair."""

    def lengths(pair):
        return len(pair[0]), len(pair[1])

    groups = transformer.group_by_length(pairs, max_tokens, seed)
    groups = [[lengths(pair) for pair in group] for group in groups]
    # Of groups that begin alike, the one that ends first was not full.
    groups.sort(key=lambda group: [*group, (math.inf,)])
    in_a_row = [pair for group in groups for pair in group]
    assert in_a_row == sorted(map(lengths, pairs))
    for group, following in zip(groups, groups[1:], strict=False):
        more = [*group, following[0]]
        assert len(more) * max(map(max, more)) > max_tokens


@since(16)
@given(corpora, st.integers(12, 60), seeds, seeds)
def test_only_the_order_depends_on_the_seed(
    transformer, pairs, max_tokens, seed, other
):
    """The schedule counts on as many groups in every epoch."""
    groups = transformer.group_by_length(pairs, max_tokens, seed)
    again = transformer.group_by_length(list(pairs), max_tokens, seed)
    assert groups == again
    others = transformer.group_by_length(pairs, max_tokens, other)
    assert sorted(map(len, groups)) == sorted(map(len, others))


@since(16)
def test_another_seed_mixes_groups_and_order(transformer):
    pairs = [([3] * (3 + i % 4), [i + 3]) for i in range(80)]
    kept = list(pairs)
    one, other = (
        transformer.group_by_length(pairs, 40, seed) for seed in ("0 1", "0 2")
    )
    assert pairs == kept
    assert one != other
    assert sorted(map(sorted, one)) != sorted(map(sorted, other))
    sizes = [len(group[0][0]) for group in one]
    assert sizes != sorted(sizes)


@since(16)
def test_the_global_random_state_is_neither_read_nor_changed(transformer):
    pairs = [([3] * (3 + i % 4), [i + 3]) for i in range(40)]
    random.seed(0)
    before = random.getstate()
    one = transformer.group_by_length(pairs, 40, 5)
    assert random.getstate() == before
    random.seed(1)
    assert transformer.group_by_length(pairs, 40, 5) == one


@since(16)
@given(corpora, st.integers(1, 11), seeds)
def test_a_pair_that_is_too_long_is_counted_never_cut(
    transformer, pairs, max_tokens, seed
):
    too_long = sum(max(map(len, pair)) > max_tokens for pair in pairs)
    if too_long:
        match = f"^{too_long} pairs.*max_tokens, {max_tokens}"
        with pytest.raises(ValueError, match=match):
            transformer.group_by_length(pairs, max_tokens, seed)
    else:
        groups = transformer.group_by_length(pairs, max_tokens, seed)
        assert sum(map(len, groups)) == len(pairs)


@since(16)
def test_most_of_a_batch_is_no_padding(transformer):
    order = random.Random(0)
    pairs = []
    for _ in range(500):
        n = order.randint(4, 20)
        pairs.append((n * [3], (n + order.randint(-2, 2)) * [3]))
    tokens = sum(len(src) + len(tgt) - 1 for src, tgt in pairs)

    def padding(groups):
        batches = map(transformer.collate, groups)
        size = sum(b.src.numel() + b.tgt.numel() for b in batches)
        return 1 - tokens / size

    as_they_come = [pairs[i : i + 25] for i in range(0, 500, 25)]
    assert padding(as_they_come) > 0.3
    assert padding(transformer.group_by_length(pairs, 400, 0)) < 0.15


# collate


@since(16)
@given(corpora)
def test_a_batch_loses_no_token(transformer, pairs):
    pairs = [(src[:-1] + [1], tgt[:-1] + [1]) for src, tgt in pairs]
    batch = transformer.collate(pairs)
    assert batch.src.size(1) == max(len(src) for src, _ in pairs)
    assert batch.tgt_y.size(1) == max(len(tgt) for _, tgt in pairs) - 1
    assert int(batch.ntokens) == sum(len(tgt) - 1 for _, tgt in pairs)
    for i, (src, tgt) in enumerate(pairs):
        s, t = len(src), len(tgt) - 1
        assert batch.src[i, :s].tolist() == src
        assert batch.tgt[i, :t].tolist() == tgt[:-1]
        assert batch.tgt_y[i, :t].tolist() == tgt[1:]
        assert batch.tgt_y[i, t - 1] == transformer.END
        assert (batch.src[i, s:] == transformer.PAD).all()
        assert (batch.tgt_y[i, t:] == transformer.PAD).all()
        # Each sees what is no padding, and a target nothing ahead.
        assert batch.src_mask[i, 0].tolist() == [k < s for k in range(s)] + [
            False
        ] * (batch.src.size(1) - s)
        for q in range(t):
            seen = batch.tgt_mask[i, q].nonzero().flatten().tolist()
            assert seen == list(range(q + 1))


@since(16)
def test_nothing_to_group_or_to_collate(transformer):
    with pytest.raises(ValueError, match="no pair to group"):
        transformer.group_by_length([], 10, 0)
    with pytest.raises(ValueError, match="group has no pair"):
        transformer.collate([])


@since(16)
def test_a_row_without_ids_is_all_padding(transformer):
    rows = transformer.pad_rows([[], [5, 1]])
    assert rows.tolist() == [[2, 2], [5, 1]] and rows.dtype == torch.long


@since(16)
def test_an_id_of_no_token_is_refused(transformer):
    tokenizer = trained(transformer)
    size = tokenizer.get_vocab_size()
    transformer.decode(tokenizer, [[size - 1, 0]])
    for wrong in (size, -1):
        match = f"an id is not in the vocabulary, 0 to {size - 1}"
        with pytest.raises(ValueError, match=match):
            transformer.decode(tokenizer, [[0, 1], [5, wrong]])


@since(16)
def test_a_vocabulary_has_an_end(transformer):
    """More than memory holds would take the program along."""
    with pytest.raises(ValueError, match="1000001: .* at most a million"):
        transformer.train_tokenizer(SENTENCES, 10**6 + 1)


@since(16)
def test_rows_are_filled_up(transformer):
    rows = transformer.pad_rows([[0, 5, 1], [0, 1], [0, 3, 4, 1]])
    assert rows.dtype == torch.long
    assert rows.tolist() == [[0, 5, 1, 2], [0, 1, 2, 2], [0, 3, 4, 1]]


# The corpus of a run, from step 17


@since(17)
def test_a_folder_has_its_own_pairs_to_validate(transformer, tmp_path):
    (tmp_path / "train.tsv").write_text("책\tbook\n", encoding="utf-8")
    (tmp_path / "valid.tsv").write_text("집\thouse\n", encoding="utf-8")
    learn, valid = transformer.read_corpus(tmp_path)
    assert (learn, valid) == ([("책", "book")], [("집", "house")])
    (tmp_path / "valid.tsv").unlink()
    with pytest.raises(OSError, match="valid.tsv"):
        transformer.read_corpus(tmp_path)


@since(17)
@given(n=st.integers(2, 60))
def test_a_file_lends_one_source_in_twenty(transformer, tmp_path_factory, n):
    """A source is on one side only, also one that the file has twice."""
    pairs = [(f"s{i}", f"t{i}") for i in range(n)]
    text = "".join(f"{src}\t{tgt}\n" for src, tgt in pairs + pairs[: n // 2])
    path = file_of(tmp_path_factory.mktemp("corpus"), text)
    learn, valid = transformer.read_corpus(path)
    assert sorted(learn + valid) == sorted(pairs + pairs[: n // 2])
    assert not {src for src, _ in learn} & {src for src, _ in valid}
    assert len({src for src, _ in valid}) == max(n // 20, 1)
    assert transformer.read_corpus(path) == (learn, valid)


@since(17)
def test_at_most_a_thousand_pairs_are_held_out(transformer, tmp_path):
    text = "".join(f"s{i}\tt{i}\n" for i in range(21_000))
    learn, valid = transformer.read_corpus(file_of(tmp_path, text))
    assert (len(learn), len(valid)) == (20_000, 1000)
    assert valid != sorted(valid)


@since(17)
def test_one_pair_is_no_corpus(transformer, tmp_path):
    path = file_of(tmp_path, 3 * "책\tbook\n")
    with pytest.raises(ValueError, match="one source"):
        transformer.read_corpus(path)


@since(17)
def test_subwords_are_learned_from_the_training_part_only(
    transformer, tmp_path
):
    train = 9 * "얼룩말 보다\tsee a zebra\n"
    (tmp_path / "train.tsv").write_text(train, encoding="utf-8")
    valid = 9 * "코끼리 보다\tsee an elephant\n"
    (tmp_path / "valid.tsv").write_text(valid, encoding="utf-8")
    settings = transformer.Settings(
        vocab=400, layers=1, d_model=8, d_ff=8, heads=1
    )
    transformer.begin(tmp_path, tmp_path / "run", settings)
    (folder,) = transformer.checkpoints(tmp_path / "run")
    _, tokenizer, _ = transformer.load_checkpoint(folder)
    known = pieces(tokenizer)
    assert "▁zebra" in known and "▁얼룩말" in known
    assert "▁elephant" not in known and "▁코끼리" not in known
    assert not any("코" in piece or "ph" in piece for piece in known)
