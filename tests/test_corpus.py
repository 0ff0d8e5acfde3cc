"""The Korean-English corpus of the last steps, and its grammar."""

import re
import unicodedata
from collections import Counter

import pytest

from data import ko_en_grammar as grammar

SETS = ("train", "valid", "test", "new")


def read(name):
    text = (grammar.FOLDER / f"{name}.tsv").read_bytes().decode("utf-8")
    assert text.endswith("\n") and "\r" not in text
    return [tuple(line.split("\t")) for line in text[:-1].split("\n")]


@pytest.fixture(scope="module")
def corpus():
    return {name: read(name) for name in SETS}


def words(text):
    return [word.rstrip(".,?") for word in text.split()]


def counts(pairs):
    return [Counter(w for p in pairs for w in words(p[s])) for s in (0, 1)]


# The files


def test_the_grammar_writes_these_files_and_new_pairs_are_new(corpus):
    sets = grammar.corpus()
    assert grammar.generate() == corpus
    trained = {pair for s in sets["train"] for pair in s.pairs}
    verbs, objects = ({pair[side] for pair in trained} for side in (0, 1))
    new = set()
    for sentence in sets["new"]:
        assert sentence.pairs and not sentence.pairs & trained, sentence
        new |= sentence.pairs
    assert len(new) >= 40
    assert {verb for verb, _ in new} <= verbs
    assert {noun for _, noun in new} <= objects
    # valid and test hold nothing of what is kept for new.
    for name in ("valid", "test"):
        assert not new & {pair for s in sets[name] for pair in s.pairs}


def test_a_new_object_and_its_verb_never_stood_side_by_side(corpus):
    nouns = {noun + end for noun in grammar.NOUN for end in "을를"}

    def ends(pairs):
        return {tuple(words(ko)[-2:]) for ko, _ in pairs}

    new = {end for end in ends(corpus["new"]) if end[0] in nouns}
    new -= {end for end in new if end[0] == "개를"}  # dogs, or a number
    assert len(new) > 50
    assert not new & ends(corpus["train"])


def test_what_is_new_is_made_of_what_train_says_often():
    sets = grammar.corpus()
    new = Counter(pair for s in sets["new"] for pair in s.pairs)
    assert max(new.values()) <= 15
    said = Counter(
        w for s in sets["train"] for w in {w for p in s.pairs for w in p}
    )
    for pair in new:
        assert min(said[word] for word in pair) >= 60, pair


def test_sizes(corpus):
    sizes = {name: len(pairs) for name, pairs in corpus.items()}
    assert sizes == {
        "train": 24_000,
        "valid": 1_000,
        "test": 1_000,
        "new": 500,
    }


def test_no_sentence_comes_twice(corpus):
    korean = [ko for pairs in corpus.values() for ko, _ in pairs]
    assert len(korean) == len(set(korean))


def test_english_is_a_function_of_korean(corpus):
    translation = {}
    for pairs in corpus.values():
        for ko, en in pairs:
            bare = " ".join(words(ko)) + ko[-1]
            assert translation.setdefault(bare, en) == en, ko


def test_sentences_have_3_to_15_words_and_an_end(corpus):
    for pairs in corpus.values():
        for ko, en in pairs:
            assert 3 <= len(ko.split()) <= 15 and 3 <= len(en.split()) <= 15
            assert ko[-1] == en[-1] and ko[-1] in ".?"
            assert re.fullmatch(r"[가-힣]+( [가-힣]+)*[.?]", ko), ko
            assert re.fullmatch(r"[A-Z][A-Za-z' ,]*[.?]", en), en
            for text in (ko, en):
                assert unicodedata.is_normalized("NFC", text)


def test_both_sides_have_600_word_forms_and_each_is_met_often(corpus):
    for side, trained in enumerate(counts(corpus["train"])):
        assert len(trained) >= 600
        for name in ("valid", "test", "new"):
            for word in counts(corpus[name])[side]:
                assert trained[word] >= 10, word


# What occurs in them

PHENOMENA = {
    "past": r"(었|았|했|갔|왔|셨|샀|봤|줬|썼|렸|웠)(다|어요|습니다)\.$",
    "future": r"(것이다|것입니다|거예요)\.$",
    "progressive": r"고 (있|계시|계세)",
    "안": r" 안 ",
    "-지 않다": r"지 않",
    "못": r" 못 |지 못",
    "can": r"수 (있|없)",
    "want": r"고 싶",
    "yes or no?": r"^(?!.*(누가|누구를|무엇을|어디에|언제|몇)).*\?$",
    "who": r"누가",
    "whom": r"누구를",
    "what": r"무엇을",
    "where": r"어디에서 ",
    "where to": r"어디에 ",
    "when": r"언제 ",
    "how many": r"몇 ",
    "plain": r"다\.$",
    "polite": r"요[.?]$",
    "formal": r"니다\.$",
    "plain question": r"니\?$",
    "honorific subject": r"께서",
    "honorific verb": r"(세요|셨어요|실 거예요)[.?]$",
    "to an elder": r"께 .*드[리렸린릴려]",
    "counter": r" (한|두|세|네|다섯|열) (개|권|잔|병|마리|명|장|벌|송이|대)",
    "to somebody": r"에게 ",
    "with, and": r"[와과] ",
    "by, with, towards": r"[가-힣](으로|로) ",
    "somebody's": r"[가-힣]의 ",
    "there is": r"(위|밑|안|앞)에는? ",
    "has": r"[이가] (있|없)",
    "on a day": r"[월화수목금토일]요일에 ",
    "at a place": r"[가-힣]에서 ",
    "weather": r"(날씨가|비가|눈이|바람이) ",
    "a clause before a noun": r"[이가] ([가-힣]+ )?(산|만든|쓴|빌린|찍은) ",
    "somebody doing": r"는 (사람|남자|여자|학생)[은는이을를]",
    "but": r"지만 ",
    "because": r"(추워서|더워서|와서|좋아서|고파서|피곤해서|바빠서|없어서) ",
    "if": r"[가-힣]면 ",
    "when (while it is so)": r" 때 ",
    "while": r"면서 ",
    "before, after": r"(기 전에|[가-힣] 후에) ",
    "in order to": r"러 [가-힣]+ [가오갔왔갈올]",
    "please": r"주세요\.$|마세요\.$",
}


@pytest.mark.parametrize("name", PHENOMENA)
def test_it_occurs_often(corpus, name):
    found = [ko for ko, _ in corpus["train"] if re.search(PHENOMENA[name], ko)]
    assert len(found) >= 100, found[:3]


# What nobody says: Korean, a tab, English.
NEVER = {
    "dress shoes in the wash": r"(구두를|코트를|한복을) (안 |못 )?(빨|빤)",
    "one hat on us all": r"\t(We|The (children|students))( (?!the )\w+)* "
    r"(wear|wore|wearing) (an?|this|the) ",
    "walking in the sea": r"(바다|산)에서 (걷|걸)",
    "cameras, counted before 가": r"^\S+ \S+ [두세네] \S+[이가] [있없]",
    "who it is that wants": r"(내|제|우리|저희)가 ([가-힣]+ )+싶",
    "a bare participle": r"\tThe \w+ \w+ing( a walk)? is ",
    "a Monday to turn on the light": r"\t.*(turn(ed)? o|opene?d? |closed? ).*"
    r" (on \w+day|week|weekend)\b",
    "at home with a stranger": r"(집|방)에서 [가-힣 ]*[가-힣]는 "
    r"(사람|남자|여자|학생|아이)[은을를]",
    "coming where I am not": r"^(나|저|우리|저희)[는가] [가-힣 ]*"
    r"(오고 싶|올 것|올 거)",
    "no pear": r"There (is|was) no (apple|book|cat|key|pear) ",
    "not at three": r"세 시에 .*( 안 |지 않)",
}


@pytest.mark.parametrize("name", NEVER)
def test_nobody_says(corpus, name):
    said = ["\t".join(pair) for pairs in corpus.values() for pair in pairs]
    assert not [line for line in said if re.search(NEVER[name], line)][:3]


# Particles


def final(word):
    "The final consonant of a word, as Unicode takes a syllable apart."
    jamo = unicodedata.normalize("NFD", word[-1])
    return jamo[2] if len(jamo) == 3 else ""


RIEUL = unicodedata.normalize("NFD", "갈")[2]


@pytest.mark.parametrize("closed, opened", ["은는", "이가", "을를", "과와"])
def test_particles_follow_the_final_consonant(closed, opened):
    for word in [*grammar.NOUN, *grammar.PLACE, "민수", "지영", "선생님"]:
        right = closed if final(word) else opened
        assert grammar.particle(word, closed) == word + right


def test_toward_and_by_treat_rieul_as_a_vowel():
    for word in [*grammar.NOUN, *grammar.PLACE]:
        right = "로" if final(word) in ("", RIEUL) else "으로"
        assert grammar.particle(word, "으로") == word + right
    for (
        right
    ) in "서울로 지하철로 버스로 부산으로 집으로 연필로 펜으로".split():
        assert right in {
            grammar.particle(right.removesuffix(end), "으로")
            for end in ("로", "으로")
        }


def test_no_wrong_particle_in_the_corpus(corpus):
    nouns = {*grammar.NOUN, *grammar.PLACE}
    wrong = {"은": "는", "이": "가", "을": "를", "과": "와"}
    seen = 0
    for pairs in corpus.values():
        for ko, _ in pairs:
            for word in words(ko):
                noun, end = word[:-1], word[-1]
                if noun in nouns and end in "은는이가을를과와":
                    seen += 1
                    assert (end in wrong) == bool(final(noun)), ko
    assert seen > 10_000


# Verb forms


FORMS = """
듣다: 들었다 들은 들을 들어요 들으면 들으세요 듣는다 듣습니다 듣니
걷다: 걸었다 걸은 걸을 걸어요 걸으면 걸으세요 걷는다 걷습니다 걷니
돕다: 도왔다 도운 도울 도와요 도우면 도우세요 돕는다 돕습니다 돕니
줍다: 주웠다 주운 주울 주워요 주우면 주우세요 줍는다 줍습니다 줍니
짓다: 지었다 지은 지을 지어요 지으면 지으세요 짓는다 짓습니다 짓니
쓰다: 썼다 쓴 쓸 써요 쓰면 쓰세요 쓴다 씁니다 쓰니
끄다: 껐다 끈 끌 꺼요 끄면 끄세요 끈다 끕니다 끄니
부르다: 불렀다 부른 부를 불러요 부르면 부르세요 부른다 부릅니다 부르니
자르다: 잘랐다 자른 자를 잘라요 자르면 자르세요 자른다 자릅니다 자르니
살다: 살았다 산 살 살아요 살면 사세요 산다 삽니다 사니
만들다: 만들었다 만든 만들 만들어요 만들면 만드세요 만든다 만듭니다 만드니
가다: 갔다 간 갈 가요 가면 가세요 간다 갑니다 가니
오다: 왔다 온 올 와요 오면 오세요 온다 옵니다 오니
보다: 봤다 본 볼 봐요 보면 보세요 본다 봅니다 보니
주다: 줬다 준 줄 줘요 주면 주세요 준다 줍니다 주니
마시다: 마셨다 마신 마실 마셔요 마시면 마시세요 마신다 마십니다 마시니
보내다: 보냈다 보낸 보낼 보내요 보내면 보내세요 보낸다 보냅니다 보내니
쉬다: 쉬었다 쉰 쉴 쉬어요 쉬면 쉬세요 쉰다 쉽니다 쉬니
먹다: 먹었다 먹은 먹을 먹어요 먹으면 먹으세요 먹는다 먹습니다 먹니
씻다: 씻었다 씻은 씻을 씻어요 씻으면 씻으세요 씻는다 씻습니다 씻니
입다: 입었다 입은 입을 입어요 입으면 입으세요 입는다 입습니다 입니
닫다: 닫았다 닫은 닫을 닫아요 닫으면 닫으세요 닫는다 닫습니다 닫니
하다: 했다 한 할 해요 하면 하세요 한다 합니다 하니
"""
ADJECTIVE_FORMS = """
마르다: 말랐다 마른 마를 말라요 마르면 마르다 마릅니다
춥다: 추웠다 추운 추울 추워요 추우면 춥다 춥습니다
바쁘다: 바빴다 바쁜 바쁠 바빠요 바쁘면 바쁘다 바쁩니다
길다: 길었다 긴 길 길어요 길면 길다 깁니다
빨갛다: 빨갰다 빨간 빨갈 빨개요 빨가면 빨갛다 빨갛습니다
하얗다: 하얬다 하얀 하얄 하얘요 하야면 하얗다 하얗습니다
맛있다: 맛있었다 맛있는 맛있을 맛있어요 맛있으면 맛있다 맛있습니다
깨끗하다: 깨끗했다 깨끗한 깨끗할 깨끗해요 깨끗하면 깨끗하다 깨끗합니다
"""


@pytest.mark.parametrize("line", FORMS.strip().splitlines())
def test_verb_forms(line):
    lemma, *right = line.replace(":", "").split()
    stem = grammar.stem(lemma)
    forms = [stem + end for end in ("았다", "은", "을", "아요", "으면")]
    forms.append(stem.honorific() + "아요")
    assert forms + [stem + end for end in ("는다", "습니다", "니")] == right
    assert stem + "고" == lemma[:-1] + "고"


@pytest.mark.parametrize("line", ADJECTIVE_FORMS.strip().splitlines())
def test_adjective_forms(line):
    lemma, *right = line.replace(":", "").split()
    stem = grammar.stem(lemma, adjective=True)
    ends = ("았다", "은", "을", "아요", "으면", "는다", "습니다")
    assert [stem + end for end in ends] == right


# English


def test_english_forms(corpus):
    text = " ".join(en for pairs in corpus.values() for _, en in pairs)
    assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", text, re.I)
    assert not re.search(r"\b(I|we|you|they) (is|was not be|has|does)\b", text)
    assert not re.search(r"\b(did|does|do)( not)? \w+(ed|ught)\b", text)
    for wrong in ("buyed", "runing", "writeing", "childs", "knifes", "goed"):
        assert wrong not in text


@pytest.mark.parametrize(
    "verb, s, past, ing",
    [
        line.split()
        for line in """
        eat eats ate eating
        buy buys bought buying
        study studies studied studying
        watch watches watched watching
        swim swims swam swimming
        cut cuts cut cutting
        write writes wrote writing
        play plays played playing
        open opens opened opening
        fix fixes fixed fixing
        go goes went going
        """.strip().splitlines()
    ],
)
def test_english_verbs(verb, s, past, ing):
    shapes = [grammar.inflect(verb, shape) for shape in ("s", "past", "ing")]
    assert shapes == [s, past, ing]
