from collections import Counter

from tutorial.checks import expect, filled


def check_1(padding_share):
    for groups in (
        [[3, 5, 4], [8]],
        [[2, 9], [4, 4, 4], [7, 1, 1, 1]],
        [[6, 6], [5]],
    ):
        given = filled(padding_share([list(group) for group in groups]))
        expect(
            isinstance(given, int | float) or hasattr(given, "item"),
            f"수 하나를 돌려줘야 하는데 {type(given).__name__}이다.",
        )
        given = float(given)
        tokens = sum(map(sum, groups))
        cells = [len(group) * max(group) for group in groups]
        share = 1 - tokens / sum(cells)
        shares = [1 - sum(g) / c for g, c in zip(groups, cells, strict=True)]
        longest = max(map(max, groups)) * sum(map(len, groups))

        def near(value, given=given):
            return abs(given - value) < 1e-6

        wrong = not near(share)
        expect(
            not (wrong and near(1 - share)),
            "토큰의 몫이다. 패딩의 몫은 1에서 그것을 뺀 것이다.",
        )
        expect(
            not (wrong and near(100 * share)),
            "퍼센트가 아니라 0과 1 사이의 수로 돌려준다.",
        )
        expect(
            not (wrong and near(sum(cells) - tokens)),
            "패딩의 칸 수다. 모든 칸의 수로 나눈다.",
        )
        expect(
            not (wrong and near((sum(cells) - tokens) / tokens)),
            "토큰의 수로 나누었다. 패딩까지 센 칸의 수로 나눈다.",
        )
        expect(
            not (wrong and near(sum(shares) / len(shares))),
            "배치마다 구한 몫을 평균 냈다. 칸과 토큰을 모두 더한 다음 "
            "한 번만 나눈다.",
        )
        expect(
            not (wrong and near(1 - tokens / longest)),
            "모든 배치를 가장 긴 문장 하나에 맞추었다. 배치마다 제 가장 "
            "긴 문장에 맞춘다.",
        )
        expect(
            not wrong,
            f"{groups}에서는 {sum(cells)}칸 가운데 {sum(cells) - tokens}칸이 "
            f"패딩이니 {share:.3f}이어야 하는데 {given:.3f}이다.",
        )
    return "칸을 세어 보기만 하면 된다."


def check_2(hold_out):
    # Some sources stand there many times, with other translations.
    pairs = [
        (f"문장 {i}.", f"Sentence {i}, version {k}.")
        for k in range(20)
        for i in range(60)
        if k == 0 or i % 6 == 0
    ]
    given = list(pairs)
    answer = filled(hold_out(given, 12))
    expect(
        isinstance(answer, tuple | list) and len(answer) == 2,
        "(학습, 검증) 둘을 돌려줘야 한다.",
    )
    learn, valid = (as_pairs(part) for part in answer)
    learn_sources = list(dict.fromkeys(src for src, _ in learn))
    valid_sources = list(dict.fromkeys(src for src, _ in valid))
    both = set(learn_sources) & set(valid_sources)
    expect(
        not both,
        f"원문 {len(both)}개가 학습에도 검증에도 있다. 원문이 같은 쌍은 "
        "모두 한쪽으로 간다.",
    )
    found, expected = Counter(learn + valid), Counter(pairs)
    expect(
        not expected - found,
        f"{(expected - found).total()}쌍이 사라졌다. 학습과 검증을 합치면 "
        "받은 쌍이 모두 있어야 한다.",
    )
    expect(
        found == expected,
        "받은 것보다 쌍이 많다. 한 쌍은 한 번만 들어간다.",
    )
    expect(
        len(learn_sources) != 12,
        "뒤바뀌었다. 학습이 먼저, 검증이 나중이다.",
    )
    expect(
        len(valid_sources) == 12,
        f"검증에 서로 다른 원문이 12개여야 하는데 {len(valid_sources)}개다. "
        "겹친 원문을 하나로 줄인 다음 고른다.",
    )
    numbers = sorted(int(src[3:-1]) for src in valid_sources)
    expect(
        numbers[-1] - numbers[0] > 15,
        "한군데서 몰아 떼었다. 섞어서 고른다.",
    )
    again = filled(hold_out(list(pairs), 12))
    expect(
        Counter(as_pairs(again[1])) == Counter(valid),
        "두 번 부르니 다른 것을 떼었다. 난수의 seed를 정해 둔다.",
    )
    return "외운 문장이 검증에 섞이지 않는다."


def as_pairs(part):
    expect(
        isinstance(part, tuple | list)
        and all(isinstance(p, tuple | list) and len(p) == 2 for p in part),
        "학습과 검증은 저마다 (원문, 번역문)의 목록이어야 한다.",
    )
    return [tuple(pair) for pair in part]
