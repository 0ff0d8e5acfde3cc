"""A Chromium to look through."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=30_000)

HOW_TO_GET_ONE = (
    "no Chromium to look through; to get one: "
    f"{sys.executable} -m playwright install chromium"
)


def chromium(playwright) -> str | None:
    """Playwright's own Chromium, or else the system's."""
    own = playwright.chromium.executable_path
    return own if Path(own).exists() else shutil.which("chromium")


# Playwright keeps an event loop running in this thread, which tests outside
# this folder must not meet: not for the whole session.
@pytest.fixture(scope="package")
def browser():
    with sync_playwright() as playwright:
        path = chromium(playwright)
        if path is None and os.environ.get("BROWSER") == "required":
            pytest.fail(HOW_TO_GET_ONE)
        if path is None:
            pytest.skip(HOW_TO_GET_ONE)
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()
