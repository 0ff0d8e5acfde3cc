"""The web edition: executed notebooks as pages that need no server.

notebooks/*.ipynb ─ page.py ─→ an article for each step
steps/*/transformer.py ─ diffs.py ─→ assets/diffs.js, for any two steps
articles and file ─ search.py ─→ assets/search-index.js
all of it ─ templates/page.html.j2 ─→ site/*.html
"""

import shutil
from pathlib import Path

import nbformat
from jinja2 import Environment, PackageLoader, StrictUndefined

from tutorial import transformer_map
from tutorial.errors import TutorialError
from tutorial.steps import ROOT, Step, all_steps, neighbours
from tutorial.viewer import Diff, births, definition, top_level
from tutorial.web import diffs, page, search

SITE = ROOT / "site"
ASSETS = Path(__file__).parent / "assets"
FILE_PAGE = "transformer.html"


def build(notebooks: Path, target: Path) -> None:
    """Make `target` anew from the executed notebooks, or leave it alone."""
    new = target.with_name(target.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        write(notebooks, new)
        shutil.rmtree(target, ignore_errors=True)
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def write(notebooks: Path, target: Path) -> None:
    steps, sections = all_steps(), []
    shutil.copytree(ASSETS, target / "assets")
    for step in steps:
        notebook = read(notebooks / f"{step.name}.ipynb")
        lesson = page.lesson(step, notebook)
        picture = notebooks / f"maps/{step.number:02d}.png"
        files = {
            f"{step.name}.html": render_lesson(step, lesson),
            f"steps/{step.name}/transformer.py": step.snapshot,
            f"maps/{step.number:02d}.png": picture.read_bytes(),
            **lesson.figures,
        }
        for name, content in files.items():
            write_file(target / name, content)
        sections += search.sections(step, lesson.article)
    last = steps[-1]
    sections += search.definitions(last, FILE_PAGE)
    write_file(target / "transformer.py", last.snapshot)
    write_file(target / FILE_PAGE, render_file(last))
    write_file(target / "index.html", render_contents(steps))
    write_file(target / "assets/diffs.js", diffs.script(steps))
    write_file(target / "assets/search-index.js", search.script(sections))


def write_file(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8") if isinstance(content, str) else content
    path.write_bytes(data)


def read(path: Path) -> nbformat.NotebookNode:
    if not path.is_file():
        raise TutorialError(f"{path}이 없다. 먼저 make run을 한다.")
    return nbformat.read(path, as_version=4)


def render_lesson(step: Step, lesson: page.Lesson) -> str:
    before, after = neighbours(step)
    viewer = diffs.viewer_html(Diff(before, step))
    return template("lesson").render(
        page_title=f"{step.number:02d} {step.title}",
        description=f"{step.label}. {step.title}",
        step=step,
        facts=lesson.facts,
        article=lesson.article.replace(page.VIEWER, viewer),
        previous=before and (f"{before.name}.html", before.title),
        next=after and (f"{after.name}.html", after.title),
        map_alt=transformer_map.description(step.number),
    )


def render_contents(steps: list[Step]) -> str:
    changes = [Diff(neighbours(step)[0], step).change for step in steps]
    return template("contents").render(
        page_title="차례",
        description="한 파일이 18단계에 걸쳐 어텐션에서 번역기로 자란다.",
        rows=list(zip(steps, changes, strict=True)),
        lines=len(changes[-1].new),
        map_alt=transformer_map.description(steps[-1].number),
        previous=None,
        next=(f"{steps[0].name}.html", steps[0].title),
    )


def render_file(step: Step) -> str:
    text = step.snapshot
    return template("file").render(
        page_title="transformer.py",
        description="18단계에서 완성한 파일. 줄마다 생겨난 단계가 적혀 있다.",
        code=diffs.file_html(text, births(step), all_steps()),
        names={name: definition(text, name)[1] for name in top_level(text)},
        lines=len(text.splitlines()),
        previous=(f"{step.name}.html", step.title),
        next=None,
    )


def template(name: str):
    environment = Environment(
        loader=PackageLoader("tutorial.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template(f"{name}.html.j2")
