import math

from tutorial.checks import expect, filled


def check_1(peak):
    expect(
        callable(peak),
        "peak는 model_size, factor, warmup을 받는 함수여야 한다.",
    )

    def height(*arguments):
        return float(filled(peak(*arguments)))

    def close(a, b):
        return math.isclose(a, b, rel_tol=1e-6)

    base = height(512, 1, 4000)
    expect(
        not close(base, 512**-0.5),
        "웜업이 빠졌다. step에 warmup을 넣으면 min 안의 둘이 모두 "
        "warmup ** -0.5이다.",
    )
    expect(
        not close(base, 1 / (512 * 4000)),
        "제곱근을 잊었다. d_model에도 warmup에도 -0.5제곱이 붙는다.",
    )
    expect(
        close(base, 1 / math.sqrt(512 * 4000)),
        f"peak(512, 1, 4000)이 {base:.3g}이다. 데모가 찍은 6.99e-04와 "
        "견주어 본다.",
    )
    expect(
        close(height(512, 2, 4000), 2 * base),
        "factor를 두 배로 하면 꼭대기도 두 배여야 한다.",
    )
    expect(
        close(height(512, 1, 16000), base / 2),
        "웜업을 네 배로 늘리면 꼭대기가 절반이어야 한다.",
    )
    expect(
        close(height(128, 1, 4000), 2 * base),
        "d_model이 4분의 1이면 꼭대기가 두 배여야 한다.",
    )
    expect(
        close(height(100, 3, 9), 0.1),
        "어떤 크기에서는 맞고 peak(100, 3, 9)는 0.1이 아니다.",
    )
    return "웜업이 8000이면 d_model 256의 꼭대기가 논문과 같다."


def check_2(cosine):
    expect(
        callable(cosine),
        "cosine은 n, peak, warmup, total을 받는 함수여야 한다.",
    )

    def value(n, peak=0.8, warmup=100, total=500):
        return float(filled(cosine(n, peak, warmup, total)))

    def close(n, expected):
        return math.isclose(value(n), expected, abs_tol=1e-6)

    expect(
        close(0, 0.0),
        f"0걸음에서 0이어야 하는데 {value(0):.3g}이다.",
    )
    expect(
        close(50, 0.4) and close(25, 0.2),
        f"웜업의 절반에서는 peak의 절반이어야 하는데 peak 0.8에 "
        f"{value(50):.3g}이다. 곧게 올라가는지 본다.",
    )
    expect(
        close(100, 0.8),
        f"warmup걸음에서 peak인 0.8이어야 하는데 {value(100):.3g}이다.",
    )
    expect(
        not close(200, 0.6),
        "내려가는 길이 곧다. 코사인 곡선은 꼭대기 가까이에서 천천히, "
        "가운데에서 빨리 내려간다.",
    )
    expect(
        close(500, 0.0),
        f"total걸음에서 0이어야 하는데 {value(500):.3g}이다. "
        "코사인에 넣는 각이 거기서 π인지, 1을 더해 2로 나눴는지 본다.",
    )
    expect(
        close(300, 0.4),
        "warmup과 total의 한가운데에서는 peak의 절반이어야 하는데 "
        f"peak 0.8에 {value(300):.3g}이다. 웜업이 끝난 걸음에서 각이 0, "
        "total에서 π여야 한다.",
    )
    expect(
        all(
            close(100 + 40 * k, 0.4 + 0.4 * math.cos(math.pi * k / 10))
            for k in range(11)
        ),
        "양 끝은 맞는데 그 사이가 코사인 곡선이 아니다.",
    )
    expect(
        all(close(n, 0.0) for n in (501, 700, 900, 2000)),
        f"total을 지나면 쭉 0이어야 하는데 900걸음에서 {value(900):.3g}이다.",
    )
    expect(
        math.isclose(value(35, 2.0, 20, 50), 1.0, abs_tol=1e-6),
        "peak, warmup, total을 다른 수로 바꾸면 맞지 않는다.",
    )
    return "곧게 올라가 코사인으로 식는다."
