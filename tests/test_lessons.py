"""What every page must hold, and that its exercises can be solved."""

import base64
import io
import re
from contextlib import redirect_stdout
from importlib import import_module

import pytest
from markdown_it import MarkdownIt

from tests import complaints
from tests.notebooks import code_cells, committed, section
from tests.snapshots import each_step
from tutorial import builder, lesson, transformer_map
from tutorial.steps import ROOT, all_steps

HEADINGS = [
    "실행 결과에서 볼 것",
    "코드 변화",
    "실행 결과",
    "그림으로 보기",
    "PyTorch와 비교",
    "고장 내 보기",
    "직접 해 보기",
    "여기까지",
]
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.M | re.S)
EXERCISE = re.compile(r"step\.check\((\d+),")


@each_step
def test_the_page_holds_its_parts_in_order(step):
    text = step.lesson_file.read_text(encoding="utf-8")
    found = re.findall(r"^## (.*)$", text, re.M)
    assert [h for h in found if h in HEADINGS] == HEADINGS
    assert found[-len(HEADINGS) :] == HEADINGS
    assert len(text.split("## ")[0]) > 100, "the page opens with prose"


@each_step
def test_the_head_of_the_page(step):
    head = committed(step).cells[0].source
    assert head.startswith(f"# {step.label} · {step.title}\n")
    assert step.source_link in head
    assert f"](maps/{step.number:02d}.png)" in head
    assert f"{builder.CONTENTS}.ipynb" in head


@each_step
def test_the_first_code_cell_is_the_same_everywhere(step):
    first = code_cells(step)[0].source
    assert first == builder.FIRST_CELL.format(number=step.number)


@each_step
def test_claims_are_printed(step):
    """Each number in code font stands word for word in the output."""
    claims = section(step, "실행 결과에서 볼 것")
    assert 3 <= len(re.findall(r"^\d\. ", claims, re.M)) <= 4
    assert complaints.not_printed(step, committed(step)) == []


@each_step
def test_every_code_cell_has_run_without_a_warning(step):
    assert complaints.not_run(committed(step)) == []


@each_step
def test_no_cell_is_exempt_from_the_check(step):
    for cell in committed(step).cells:
        assert not cell.metadata.get("tags")
        assert "NBVAL" not in cell.source.upper()


@each_step
def test_every_picture_has_an_alternative_text(step):
    pictures = 0
    for cell in committed(step).cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"!\[\]|<img", cell.source)
        elif any("image/png" in o.get("data", {}) for o in cell.outputs):
            pictures += 1
            assert len(cell.metadata["alt"]) > 15
    assert pictures, "no figure"


def links(markdown: str) -> list[str]:
    inline = [token.children or [] for token in MarkdownIt().parse(markdown)]
    tokens = [token for children in inline for token in children]
    found = [token.attrGet("href") or token.attrGet("src") for token in tokens]
    return [link for link in found if link]


@each_step
def test_links_of_the_page_lead_somewhere(step):
    found = [
        link
        for cell in committed(step).cells
        if cell.cell_type == "markdown"
        for link in links(cell.source)
    ]
    assert f"{builder.CONTENTS}.ipynb" in found
    for link in found:
        if not link.startswith("https://"):
            assert (builder.NOTEBOOKS / link).exists(), link


@each_step
def test_the_map_is_drawn_from_the_parts_list(step):
    from PIL import Image

    path = builder.NOTEBOOKS / "maps" / f"{step.number:02d}.png"
    old, new = (
        Image.open(path),
        Image.open(io.BytesIO(transformer_map.draw(step.number))),
    )
    assert old.info["Parts"] == new.info["Parts"]
    assert old.size == new.size
    assert transformer_map.parts_list(step.number)["new"]


@each_step
def test_figures_and_rich_outputs_fall_back_to_text(step):
    for cell in code_cells(step):
        for output in cell.outputs:
            if "data" in output:
                assert "text/plain" in output.data
                if "image/png" in output.data:
                    png = base64.b64decode(output.data["image/png"])
                    assert png.startswith(b"\x89PNG")


def exercises(step):
    """(number, stub, solution) for each exercise of the lesson."""
    text = step.lesson_file.read_text(encoding="utf-8")
    for cell in CELL.finditer(text):
        number = EXERCISE.search(cell[1])
        if number:
            rest = text[cell.end() :]
            solution = re.search(
                r"^<details><summary>풀이</summary>\n.*?"
                r"^```python\n(.*?)^```$",
                rest,
                re.M | re.S,
            )
            yield int(number[1]), cell[1], solution[1]


def outcome(step, code: str) -> str:
    """The last line that an exercise prints."""
    names = {"step": lesson(step.number)}
    output = io.StringIO()
    with redirect_stdout(output):
        exec("import torch\nfrom transformer import *\n" + code, names)
    return output.getvalue().strip().splitlines()[-1]


def parametrised():
    return [
        pytest.param(step, number, stub, solution, id=f"{step.name}-{number}")
        for step in all_steps()
        for number, stub, solution in exercises(step)
    ]


@pytest.mark.parametrize("step, number, stub, solution", parametrised())
class TestExercises:
    def test_the_solution_is_right(self, step, number, stub, solution):
        assert outcome(step, solution).startswith(f"문제 {number}: 맞다. ")

    def test_the_stub_is_not(self, step, number, stub, solution):
        said = outcome(step, stub)
        assert said.startswith(f"문제 {number}: 아직이다. ")
        assert "실행하다가" not in said

    @pytest.mark.parametrize("which", [0, 1])
    def test_typical_wrong_answers_get_a_hint(
        self, step, number, stub, solution, which
    ):
        module = import_module(f"tests.mistakes.step_{step.number:02d}")
        old, new = module.WRONG_ANSWERS[number][which]
        assert solution.count(old) == 1
        said = outcome(step, solution.replace(old, new))
        assert said.startswith(f"문제 {number}: 아직이다. ")
        assert len(said) > 25

    @pytest.mark.parametrize("answer", [None, ..., "7", -1, [], print])
    def test_any_other_answer_gets_a_sentence(
        self, step, number, stub, solution, answer, capsys
    ):
        lesson(step.number).check(number, answer)
        said = capsys.readouterr().out.strip().splitlines()[-1]
        assert said.startswith(f"문제 {number}: 아직이다. ")


@each_step
def test_there_are_exercises(step):
    numbers = [number for number, _, _ in exercises(step)]
    assert numbers and numbers == list(range(1, len(numbers) + 1))


def test_nothing_in_the_repository_is_pickled():
    assert complaints.pickled(ROOT) == []
