"""A browser for the page: Chromium, driven by playwright. Without either, these tests skip and say so."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.case import Case
from dynamo_core.recording.read import read
from dynamo_reporters.html import CONTENTS, page
from support.opened_page import Opened

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install '.[browser]'"
    )
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Opens the page of a recording, in a profile of its own. Whatever it complains of fails the test."""
    opened: list[Opened] = []

    def open_it(recording: Path | bytes, route: str = "", **context: Any) -> Opened:
        content = recording if isinstance(recording, bytes) else page(Case(read(recording, CONTENTS)))
        file = tmp_path / f"page{len(opened)}.html"
        file.write_bytes(content)
        tab = browser.new_context(viewport={"width": 1440, "height": 900}, **context).new_page()
        found = Opened(tab)
        opened.append(found)
        tab.on("console", lambda message: found.complaints.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: found.complaints.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: found.complaints.append(f"dialog: {dialog.message}"))
        tab.on(
            "request", lambda request: request.url.startswith("file:") or found.complaints.append(request.url)
        )
        tab.goto(file.as_uri() + (f"#/{route}" if route else ""))
        return found

    yield open_it
    for found in opened:
        found.tab.context.close()
        assert found.complaints == []
