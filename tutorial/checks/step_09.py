import torch

from tutorial.checks import expect, filled


def small_model(N):
    from transformer import make_model

    torch.manual_seed(1)
    return make_model(13, 17, N, d_model=32, d_ff=64, h=4).eval()


def check_1(next_log_probs):
    from transformer import subsequent_mask

    model = small_model(2)
    src, prefix = torch.randint(13, (3, 6)), torch.randint(17, (3, 4))
    src_mask = torch.ones(3, 1, 6, dtype=torch.bool)
    src_mask[:, :, 4:] = False
    output = filled(next_log_probs(model, src, src_mask, prefix))
    expect(torch.is_tensor(output), "로그 확률을 텐서로 돌려줘야 한다.")
    shape = tuple(output.shape)
    expect(
        shape != (3, 4, 17),
        "자리마다의 로그 확률이다. 다음 단어에는 마지막 자리 하나만 쓴다.",
    )
    expect(
        shape not in ((3, 32), (3, 4, 32)),
        f"모양이 {shape}이다. generator를 아직 거치지 않았다.",
    )
    expect(
        shape == (3, 17),
        f"모양은 (batch, 어휘)인 (3, 17)이어야 하는데 {shape}이다.",
    )

    def close(src_mask, tgt_mask, position):
        memory = model.encode(src, src_mask)
        x = model.decode(memory, src_mask, prefix, tgt_mask)
        expected = model.generator(x)[:, position]
        return torch.allclose(output, expected, atol=1e-4)

    tgt_mask = subsequent_mask(4)
    expect(
        not close(src_mask, tgt_mask, 0),
        "첫 자리의 로그 확률이다. 다음 단어는 마지막 자리 [:, -1]에서 나온다.",
    )
    expect(
        not close(src_mask, None, -1),
        "앞자리가 뒷자리를 보았다. subsequent_mask를 decode에 건네야 한다.",
    )
    expect(
        not close(None, tgt_mask, -1),
        "원문의 패딩까지 보았다. src_mask를 encode와 decode에 건네야 한다.",
    )
    sums = output.exp().sum(dim=-1)
    expect(
        torch.allclose(sums, torch.ones(3), atol=1e-4),
        "exp를 취한 합이 1이 아니다. generator가 낸 로그 확률을 그대로 낸다.",
    )
    expect(
        close(src_mask, tgt_mask, -1),
        "값이 다르다. src_mask를 encode와 decode에 다 건넸는지 본다.",
    )
    return "이것을 되풀이하면 번역이 된다."


def check_2(uneven_model):
    model = filled(uneven_model(20))
    expect(
        hasattr(model, "encoder") and hasattr(model, "decoder"),
        "모델을 돌려줘야 한다. encoder와 decoder가 보이지 않는다.",
    )
    encoder, decoder = model.encoder.layers, model.decoder.layers
    depths = len(encoder), len(decoder)
    expect(
        depths == (4, 1),
        f"층이 인코더 4개, 디코더 1개여야 하는데 {depths}다.",
    )
    model.eval()
    src, tgt = torch.arange(12).view(2, 6), torch.arange(8, 18).view(2, 5)
    memory = model.encode(src, None)
    expect(
        tuple(memory.shape) == (2, 6, 64),
        f"memory가 (2, 6, 64)여야 하는데 {tuple(memory.shape)}이다.",
    )
    log_probs = model.generator(model(src, tgt, None, None))
    expect(
        tuple(log_probs.shape) == (2, 5, 20),
        f"로그 확률이 (2, 5, 20)이어야 하는데 {tuple(log_probs.shape)}이다.",
    )
    sizes = {layer.feed_forward.w_1.out_features for layer in encoder}
    sizes.add(decoder[0].feed_forward.w_1.out_features)
    expect(sizes == {128}, f"d_ff는 128이어야 하는데 {sorted(sizes)}이다.")
    attns = [layer.self_attn for layer in encoder]
    attns += [decoder[0].self_attn, decoder[0].src_attn]
    heads = {attn.h for attn in attns}
    expect(heads == {4}, f"h는 4여야 하는데 {sorted(heads)}이다.")
    first = [attn.linears[0].weight for attn in attns]
    expect(
        len({id(weight) for weight in first}) == len(first),
        "여러 어텐션이 한 행렬을 같이 쓴다. 깊은 복사를 해야 한다.",
    )
    expect(
        not any(torch.equal(first[0], other) for other in first[1:]),
        "여러 어텐션의 값이 똑같다. 조립한 다음 행렬을 초기화해야 한다.",
    )
    return "인코더는 4층, 디코더는 1층이고 층마다 값이 다르다."
