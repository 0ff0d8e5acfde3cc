import torch

from tutorial.checks import expect, filled


def check_1(count_parameters):
    expect(
        callable(count_parameters),
        "수가 아니라 함수를 넘긴다. 괄호 없이 이름만 쓴다.",
    )
    for d_model, d_ff in ((512, 2048), (16, 40), (3, 5)):
        answer = filled(count_parameters(d_model, d_ff))
        biases = answer - 2 * d_model * d_ff
        expect(
            biases != 0,
            "가중치는 다 셌는데 편향이 빠졌다. nn.Linear마다 편향이 있다.",
        )
        expect(
            biases not in (d_ff, d_model, 2 * d_ff, 2 * d_model),
            "가중치는 다 셌다. 편향은 두 변환에 모두 있고, 저마다 나가는 "
            "차원만큼 있다.",
        )
        expect(
            biases == d_ff + d_model,
            f"d_model이 {d_model}, d_ff가 {d_ff}이면 "
            f"{2 * d_model * d_ff + d_ff + d_model}개인데 이 함수는 "
            f"{answer}개라고 한다.",
        )
    return "d_ff가 d_model의 몇 배든 맞는 식이다."


def check_2(tiny):
    expect(
        isinstance(tiny, torch.nn.Module),
        "PositionwiseFeedForward(1, 2)를 만들어 그대로 넘긴다.",
    )
    shapes = {
        "w_1.weight": (2, 1),
        "w_1.bias": (2,),
        "w_2.weight": (1, 2),
        "w_2.bias": (1,),
    }
    parameters = {name: p.detach() for name, p in tiny.named_parameters()}
    expect(
        parameters.keys() == shapes.keys(),
        "넘긴 모듈에 w_1과 w_2가 없다. PositionwiseFeedForward(1, 2)를 쓴다.",
    )
    for name, shape in shapes.items():
        found = tuple(parameters[name].shape)
        expect(
            found == shape,
            f"{name}의 모양은 {shape}여야 하는데 {found}이다.",
        )
    w_1, b_1, w_2, b_2 = (parameters[name].float() for name in shapes)
    x = torch.linspace(-5, 5, 101).unsqueeze(1)
    output = (x @ w_1.T + b_1).relu() @ w_2.T + b_2

    def gives(expected):
        return torch.allclose(output, expected, atol=1e-3)

    expect(
        not gives(x),
        "음수를 넣으면 음수가 나온다. 두 유닛의 몫을 모두 더하는지 본다.",
    )
    expect(
        bool((output[x > 0.05].abs() > 1e-3).any()),
        "양수를 넣으면 0이 나온다. 양수일 때 켜지는 유닛이 있는지 본다.",
    )
    expect(
        bool((output[x < -0.05].abs() > 1e-3).any()),
        "음수를 넣으면 0이 나온다. 음수일 때 켜지는 유닛이 있는지 본다.",
    )
    expect(
        bool((output[x.abs() < 0.01].abs() < 1e-3).all()),
        "0을 넣었는데 0이 나오지 않는다. 편향을 모두 0으로 두고 시작한다.",
    )
    for i in (70, 30):
        value, found = x[i].item(), output[i].item()
        expect(
            abs(found - abs(value)) < 1e-3,
            f"{value:.0f}에는 {abs(value):.0f}가 나와야 하는데 "
            f"{found:.2f}가 나온다.",
        )
    expect(
        gives(x.abs()),
        "2와 -2에서는 맞는데 다른 x에서 틀린다. 편향이 0인지 본다.",
    )
    return "-5부터 5까지 어디서나 |x|가 나온다."
