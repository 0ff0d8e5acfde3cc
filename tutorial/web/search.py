"""What full-text search looks through: each section, each definition."""

import json

from bs4 import BeautifulSoup

from tutorial.steps import Step
from tutorial.viewer import definition, top_level


def sections(step: Step, article: str) -> list[dict]:
    """The article cut at its headings."""
    soup = BeautifulSoup(article, "html.parser")
    for anchor in soup.find_all("a", class_="anchor-link"):
        anchor.decompose()
    page = f"{step.name}.html"
    found = [entry(page, step, step.title)]
    for part in soup.find_all(recursive=False):
        if part.name in ("h2", "h3", "h4"):
            title = part.get_text()
            found.append(entry(f"{page}#{part['id']}", step, title))
        else:
            found[-1]["text"] += " " + " ".join(part.get_text(" ").split())
    return found


def definitions(step: Step, page: str) -> list[dict]:
    """The functions and classes of the finished file."""
    found = []
    for name in top_level(step.snapshot):
        text, line = definition(step.snapshot, name)
        found.append(entry(f"{page}#L{line}", step, name))
        found[-1] |= {"place": "transformer.py", "text": text}
    return found


def entry(url: str, step: Step, title: str) -> dict:
    place = f"{step.number:02d} {step.title}"
    return {"url": url, "place": place, "title": title, "text": ""}


def script(entries: list[dict]) -> str:
    numbered = [{"id": i, **e} for i, e in enumerate(entries)]
    return f"const SECTIONS = {json.dumps(numbered, ensure_ascii=False)};\n"
