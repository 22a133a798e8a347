"""Takes the pictures in docs/page.md, of a real run of model.py:

    python docs/pictures/take.py

Needs playwright and Chromium (see CONTRIBUTING.md, "The page").
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).resolve().parent
DYNAMO = Path(sys.executable).with_name("dynamo")
PICTURES = {"first_screen.png": ("", "light"), "source.png": ("source/model.py", "dark")}
COLOURS = 255  # of a PNG with a palette: the page has few, and the files stay small


def report(folder: Path) -> Path:
    """Run the program, and make its page."""
    program = Path(shutil.copy(HERE / "model.py", folder))
    subprocess.run([DYNAMO, "run", "-o", "recording", program.name], cwd=folder, check=True)
    subprocess.run([DYNAMO, "report", "recording", "-o", "report.html"], cwd=folder, check=True)
    return folder / "report.html"


def take(tab: Page, page: Path, name: str, route: str) -> None:
    """A picture of what is at a route."""
    tab.goto(f"{page.as_uri()}#/{route}")
    tab.wait_for_timeout(500)
    tab.screenshot(path=HERE / name)
    Image.open(HERE / name).convert("P", palette=Image.Palette.ADAPTIVE, colors=COLOURS).save(
        HERE / name, optimize=True
    )
    print(f"{name}: {(HERE / name).stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Both pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = report(Path(folder))
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (route, scheme) in PICTURES.items():
            context = browser.new_context(
                viewport={"width": 1280, "height": 800},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            take(context.new_page(), page, name, route)
        browser.close()


if __name__ == "__main__":
    main()
