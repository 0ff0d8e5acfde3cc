"""The map at the top of each page: the whole Transformer, and where we are.

A part is plain once it exists, highlighted in the step that adds it, and
faint before that.
"""

import io
import json
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from tutorial import figures

WIDTH, HEIGHT = 100, 60

FACE = {"new": "#ffd778", "present": "#dce8f6", "absent": "#ffffff"}
EDGE = {"new": "#b86e00", "present": "#3f6fa3", "absent": "#d8d8d8"}
INK = {"new": "#000000", "present": "#14283f", "absent": "#767676"}


@dataclass(frozen=True)
class Part:
    """A box (lower left corner, width, height) and the step that adds it."""

    step: int
    name: str
    x: float
    y: float
    w: float
    h: float = 3.6
    frame: bool = False  # a frame holds other parts; its name is at the top

    def state(self, step: int) -> str:
        if self.step == step:
            return "new"
        return "present" if self.step < step else "absent"


PARTS = (
    # What a head does, enlarged.
    Part(3, "멀티헤드 × 8", 2, 17, 20, 30, frame=True),
    Part(1, "q·k / √d_k", 4, 19.5, 16),
    Part(2, "마스크", 4, 25.3, 16),
    Part(1, "softmax", 4, 31.1, 16),
    Part(1, "value를 섞는다", 4, 36.9, 16),
    # The model.
    Part(9, "EncoderDecoder", 25.5, 4, 46, 54.5, frame=True),
    Part(5, "임베딩 + 위치", 28.5, 7.5, 18),
    Part(7, "인코더 × 6", 27.5, 13.5, 20, 27.5, frame=True),
    Part(3, "멀티헤드", 29.5, 15.5, 16),
    Part(6, "잔차 + 정규화", 29.5, 20.9, 16),
    Part(4, "피드포워드", 29.5, 26.3, 16),
    Part(6, "잔차 + 정규화", 29.5, 31.7, 16),
    Part(7, "인코더 끝 정규화", 29.5, 43.5, 16),
    Part(5, "임베딩 + 위치", 50.5, 7.5, 18),
    Part(8, "디코더 × 6", 49.5, 13.5, 20, 32.5, frame=True),
    Part(3, "멀티헤드 (앞만)", 51.5, 15, 16),
    Part(6, "잔차 + 정규화", 51.5, 19.7, 16),
    Part(8, "멀티헤드 (원문)", 51.5, 24.4, 16),
    Part(6, "잔차 + 정규화", 51.5, 29.1, 16),
    Part(4, "피드포워드", 51.5, 33.8, 16),
    Part(6, "잔차 + 정규화", 51.5, 38.5, 16),
    Part(8, "디코더 끝 정규화", 51.5, 48, 16),
    Part(9, "Generator", 51.5, 53, 16),
    # What is done with it.
    Part(10, "한 토큰씩 추론", 77, 4.5, 20),
    Part(11, "배치", 77, 10, 20),
    Part(12, "학습 루프", 77, 15.5, 20),
    Part(13, "학습률", 77, 21, 20),
    Part(14, "레이블 스무딩", 77, 26.5, 20),
    Part(15, "베껴 쓰기", 77, 32, 20),
    Part(16, "진짜 문장", 77, 37.5, 20),
    Part(17, "번역기 학습", 77, 43, 20),
    Part(18, "번역과 빔 서치", 77, 48.5, 20),
)

# Arrows: the step from which each is real, its start and its end.
ARROWS = (
    (5, (37.5, 11.1), (37.5, 15.5)),
    (7, (37.5, 41), (37.5, 43.5)),
    (5, (59.5, 11.1), (59.5, 15)),
    (8, (59.5, 46), (59.5, 48)),
    (9, (59.5, 51.6), (59.5, 53)),
    (8, (45.5, 45.3), (51.5, 26.2)),
)


def parts_list(step: int) -> dict[str, list[str]]:
    """The names of the parts by state, without repeats, in drawing order."""
    states: dict[str, list[str]] = {"new": [], "present": [], "absent": []}
    for part in PARTS:
        names = states[part.state(step)]
        if part.name not in names:
            names.append(part.name)
    return states


def description(step: int) -> str:
    """The alternative text of the map."""
    parts = parts_list(step)
    text = (
        f"Transformer 지도. 이 단계에서 더하는 것: {', '.join(parts['new'])}."
    )
    if parts["present"]:
        text += f" 이미 있는 것: {', '.join(parts['present'])}."
    if parts["absent"]:
        text += f" 아직 없는 것: {', '.join(parts['absent'])}."
    return text


def draw(step: int) -> bytes:
    """The map of a step as a PNG that carries its own parts list."""
    figures.set_style()
    figure = Figure(figsize=(9, 5.4), dpi=110)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    axes.axis("off")
    for part in PARTS:
        draw_part(axes, part, part.state(step))
    for needed, start, end in ARROWS:
        color = EDGE["present" if needed <= step else "absent"]
        axes.annotate(
            "", end, start, arrowprops={"arrowstyle": "->", "color": color}
        )
    for x, text in ((37.5, "원문"), (59.5, "번역문")):
        axes.text(
            x, 5.6, text, ha="center", va="center", size=9, color="#444444"
        )
    png = io.BytesIO()
    metadata = {"Software": None, "Parts": json.dumps(parts_list(step))}
    figure.savefig(png, format="png", metadata=metadata)
    return png.getvalue()


def draw_part(axes, part: Part, state: str) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (part.x, part.y),
            part.w,
            part.h,
            boxstyle="round,pad=0,rounding_size=0.8",
            facecolor="none" if part.frame and state != "new" else FACE[state],
            edgecolor=EDGE[state],
            linewidth=2.2 if state == "new" else 1.2,
            alpha=0.45 if part.frame and state == "new" else 1,
            zorder=1 if part.frame else 2,
        )
    )
    ink = {"color": INK[state], "va": "center", "zorder": 3}
    y = part.y + part.h - 1.8 if part.frame else part.y + part.h / 2
    axes.text(part.x + 0.8, y, f"{part.step:02d}", size=7, **ink)
    if part.frame:
        axes.text(part.x + 3.4, y, part.name, size=10, **ink)
    else:
        middle = part.x + part.w / 2 + 0.9
        axes.text(middle, y, part.name, size=9, ha="center", **ink)
