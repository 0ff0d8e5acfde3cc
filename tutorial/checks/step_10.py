import torch

from tutorial.checks import expect, filled


def check_1(cut_at_end):
    def cut(rows, end_symbol):
        output = filled(cut_at_end(torch.tensor(rows), end_symbol))
        expect(
            isinstance(output, (list, tuple)) and len(output) == len(rows),
            f"문장 {len(rows)}개를 주면 리스트 {len(rows)}개를 담은 "
            "리스트를 돌려줘야 한다.",
        )
        return [[int(token) for token in sentence] for sentence in output]

    output = cut([[1, 5, 7, 2, 7, 4], [1, 6, 2, 2, 8, 2]], 2)
    expect(
        all(sentence[:1] != [1] for sentence in output),
        "시작 토큰이 남아 있다. 첫 칸은 문장이 아니다.",
    )
    expect(
        all(2 not in sentence for sentence in output),
        f"끝 토큰 2가 남아 있다: {output}. 끝 토큰도 문장이 아니다.",
    )
    expect(
        output == [[5, 7], [6]],
        f"[[5, 7], [6]]이어야 하는데 {output}이다. "
        "처음 나온 끝 토큰에서 자른다.",
    )
    whole = cut([[1, 8, 3, 8]], 2)
    expect(
        whole == [[8, 3, 8]],
        "끝 토큰이 없으면 끝까지가 문장이다. 1 8 3 8은 [8, 3, 8]이어야 "
        f"하는데 {whole[0]}이다.",
    )
    empty = cut([[1, 2, 4]], 2)
    expect(
        empty == [[]],
        f"곧바로 끝난 1 2 4는 빈 리스트여야 하는데 {empty[0]}이다.",
    )
    same = cut([[2, 5, 2, 4]], 2)
    expect(
        same == [[5]],
        "시작과 끝에 같은 토큰을 쓰는 모델도 있다. 끝이 2일 때 2 5 2 4는 "
        f"[5]여야 하는데 {same[0]}이다. 첫 칸을 먼저 뗀다.",
    )
    return "문장마다 끝에서 잘랐고, 끝나지 않은 문장은 그대로 두었다."


def check_2(score_of):
    from transformer import make_model, subsequent_mask

    torch.manual_seed(1)
    model = make_model(13, 17, N=2, d_model=32, d_ff=64, h=4).eval()
    src, ys = torch.randint(13, (3, 6)), torch.randint(17, (3, 5))
    src_mask = torch.ones(3, 1, 6, dtype=torch.bool)
    src_mask[:, :, 4:] = False
    output = filled(score_of(model, src, src_mask, ys))
    expect(torch.is_tensor(output), "점수를 텐서로 돌려줘야 한다.")
    output, shape = output.detach(), tuple(output.shape)
    expect(
        shape != (3, 4),
        "토큰마다의 로그 확률이다. 문장마다 하나가 되도록 더한다.",
    )
    expect(
        shape == (3,),
        f"문장마다 수가 하나이니 모양은 (3,)이어야 하는데 {shape}이다.",
    )

    def table(tokens, src_mask, causal):
        tgt_mask = subsequent_mask(tokens.size(1)) if causal else None
        with torch.no_grad():
            return model.generator(model(src, tokens, src_mask, tgt_mask))

    def pick(log_p, tokens):
        return log_p.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)

    def close(expected):
        return torch.allclose(output, expected, atol=1e-3)

    log_p = table(ys, src_mask, True)
    chosen = pick(log_p[:, :-1], ys[:, 1:])
    own = pick(log_p, ys)  # of the token put in, not of the next
    expect(
        not any(close(x.sum(1)) for x in (own, own[:, 1:], own[:, :-1])),
        "자리마다 넣은 토큰의 로그 확률을 더했다. i번째 자리가 맞힐 것은 "
        "그다음 토큰이다.",
    )
    expect(not close(chosen.mean(1)), "평균을 냈다. 로그 확률의 합을 구한다.")
    expect(
        not close(chosen.exp().prod(1)),
        "확률을 곱했다. 로그 확률을 그대로 더한다.",
    )
    expect(
        not close(log_p.max(-1).values[:, :-1].sum(1)),
        "가장 높은 로그 확률을 더했다. ys에 적힌 토큰의 것을 골라야 한다.",
    )
    leaks = [
        pick(table(ys[:, :n], src_mask, False)[:, :4], ys[:, 1:]).sum(1)
        for n in (4, 5)
    ]
    expect(
        not any(close(leak) for leak in leaks),
        "앞자리가 뒷자리를 보았다. subsequent_mask를 건네야 한다.",
    )
    unmasked = pick(table(ys, None, True)[:, :-1], ys[:, 1:]).sum(1)
    expect(
        not close(unmasked),
        "원문의 패딩까지 보았다. src_mask를 건네야 한다.",
    )
    expect(
        close(chosen.sum(1)),
        "값이 다르다. 마지막 토큰을 뺀 것을 넣고, 첫 토큰을 뺀 것이 나올 "
        "로그 확률을 더한다.",
    )
    return "이제 어느 문장이 더 그럴듯한지 견줄 수 있다."
