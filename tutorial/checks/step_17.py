import random

import torch

from tutorial.checks import expect, filled


def check_1(not_built):
    for lengths, vocab in (
        ([5, 3], 10),
        ([4, 4, 4], 100),
        ([9, 2, 6, 2], 7),
    ):
        given = filled(not_built(list(lengths), vocab))
        expect(
            isinstance(given, int | float) or hasattr(given, "item"),
            f"수 하나를 돌려줘야 하는데 {type(given).__name__}이다.",
        )
        given = float(given)
        n = len(lengths)
        cells, words = n * max(lengths), sum(lengths)
        slots, tokens = cells - n, words - n
        right = (2 * slots - tokens) * vocab

        def wrong(value, given=given, right=right):
            return given == value != right

        for value in (
            2 * cells - words,
            2 * cells - tokens,
            2 * slots - words,
        ):
            expect(
                not wrong(value * vocab),
                "시작 토큰까지 세었다. 맞힐 자리도 토큰도 문장보다 하나 적다.",
            )
        expect(
            not wrong(slots * vocab),
            "목표 분포만 세었다. 패딩 자리의 로그 확률도 이제 내지 않는다.",
        )
        expect(
            not wrong((slots - tokens) * vocab),
            "패딩 자리의 로그 확률만 세었다. 목표 분포는 모든 자리에서 "
            "만들지 않는다.",
        )
        expect(
            not wrong(tokens * vocab),
            "패딩을 빼고 세었다. 16단계는 패딩 자리에서도 로그 확률을 내고 "
            "목표 분포를 만들었다.",
        )
        expect(
            not wrong(2 * slots * vocab),
            "16단계가 만들던 수다. 빠른 꼴도 로그 확률은 만든다. 그것을 뺀다.",
        )
        expect(
            not wrong(2 * slots - tokens),
            "자리의 수다. 자리마다 어휘만큼의 수를 만든다.",
        )
        expect(
            given == right,
            f"길이가 {lengths}, 어휘가 {vocab}개면 자리는 {slots}개, 그 "
            f"가운데 패딩이 아닌 것은 {tokens}개다. 답은 {right:,}인데 "
            f"{given:,.0f}이다.",
        )
    return "큰 것은 목표 분포고, 패딩은 덤이다."


def check_2(clip):
    torch.manual_seed(1)
    long = [torch.tensor([3.0, 0.0]), torch.tensor([[4.0], [12.0]])]
    for grads, longest in (
        (long, 1.0),
        (long, 6.5),
        (long, 20.0),
        ([torch.randn(4, 3), torch.randn(5) * 10, torch.randn(1)], 2.0),
        ([torch.zeros(3), torch.zeros(2, 2)], 1.0),
    ):
        given = filled(clip([grad.clone() for grad in grads], longest))
        expect(
            isinstance(given, list | tuple)
            and all(isinstance(grad, torch.Tensor) for grad in given),
            "텐서의 목록을 돌려줘야 한다.",
        )
        found = [tuple(grad.shape) for grad in given]
        shapes = [tuple(grad.shape) for grad in grads]
        expect(
            found == shapes,
            f"텐서의 모양이 {shapes}여야 하는데 {found}다.",
        )
        before, after = flat(grads), flat(given)
        expect(
            bool(after.isfinite().all()),
            "그래디언트가 모두 0이면 0으로 나누게 된다. 넘지 않을 때는 "
            "그대로 둔다.",
        )
        length = before.norm().item()
        if length <= longest:
            expect(
                torch.allclose(after, before, atol=1e-5),
                f"길이 {length:.0f}은 {longest:.0f}을 넘지 않으니 그대로 "
                "두어야 한다. 짧은 것을 늘이지 않는다.",
            )
            continue
        shortened = after.norm().item()
        cosine = torch.cosine_similarity(before, after, dim=0).item()
        expect(
            cosine > 0.9999,
            "이어 붙인 벡터의 방향이 달라졌다. 텐서나 성분마다 따로 자르지 "
            "않고, 모두에 같은 수를 곱한다.",
        )
        expect(
            abs(shortened - longest) < 1e-3 * longest,
            f"길이 {length:.2f}를 {longest}로 줄여야 하는데 "
            f"{shortened:.2f}이다. 제곱해서 모두 더한 것의 제곱근이 길이다.",
        )
    return "길면 줄이고, 방향은 그대로 둔다."


def flat(tensors):
    return torch.cat([t.detach().flatten().float() for t in tensors])


def check_3(order):
    state = random.getstate()
    try:
        return check_order(order)
    finally:
        random.setstate(state)


def check_order(order):
    first = shuffled(order, 30, 0, 1)
    random.seed(5)
    torch.manual_seed(5)
    expect(
        shuffled(order, 30, 0, 1) == first,
        "두 번 부르니 다른 순서다. 앞에서 뽑은 난수에 좌우되지 않게, "
        "(seed, epoch)로 씨앗을 심은 난수를 쓴다.",
    )
    expect(
        first != list(range(30)),
        "섞이지 않았다.",
    )
    expect(
        shuffled(order, 30, 0, 2) != first,
        "에포크가 달라도 같은 순서다.",
    )
    expect(
        shuffled(order, 30, 1, 1) != first,
        "seed가 달라도 같은 순서다.",
    )
    seen = {}
    for seed in (0, 1, 2, 3, 11):
        for epoch in range(1, 25):
            found = tuple(shuffled(order, 30, seed, epoch))
            expect(
                found not in seen,
                f"(seed, epoch)가 {seen.get(found)}일 때와 {(seed, epoch)}일 "
                "때가 같은 순서다. 둘을 더하거나 그냥 이어 붙이면 서로 다른 "
                "짝이 같은 씨앗이 된다.",
            )
            seen[found] = seed, epoch
    return "어디서 이어 해도 같은 순서다."


def shuffled(order, n, seed, epoch):
    given = filled(order(n, seed, epoch))
    expect(
        not isinstance(given, str | int | float | dict)
        and hasattr(given, "__iter__"),
        f"번호의 목록을 돌려줘야 하는데 {type(given).__name__}이다.",
    )
    given = list(given)
    expect(
        sorted(int(i) for i in given) == list(range(n)),
        f"0부터 {n - 1}까지가 한 번씩 있어야 한다.",
    )
    return [int(i) for i in given]
