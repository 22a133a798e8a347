"""What the page of a TORCH_TRACE log of 150 MB costs, and how soon a browser shows it."""

import argparse
import shutil
import sys
import time
from pathlib import Path

from pairs import Side, print_comparison, run_in_turn, workplace
from read_logs import figures, make_log, make_trace

MEGABYTES = 150
WALL_BOUND_S, PEAK_BOUND_MB, SIZE_BOUND_MB, OPENS_BOUND_S = 6.0, 500, 15, 2.0


def report(log: Path, page: Path) -> Side:
    """`dynamo report` of a log."""
    dynamo = str(Path(sys.executable).with_name("dynamo"))
    return Side("dynamo report", [sys.executable, dynamo, "report", str(log), "-o", str(page)])


def seconds_to_open(page: Path, route: str) -> float | None:
    """Until a browser shows the page at a route; None where there is no browser."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        begun = time.perf_counter()
        tab.goto(f"{page.as_uri()}#/{route}")
        tab.locator("#overview h1" if not route else "#view h2").first.wait_for(state="visible")
        took = time.perf_counter() - begun
        browser.close()
        return took


def main() -> None:
    """Build the log and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="rounds [%(default)s]")
    parser.add_argument("--log", type=Path, help="a log that is there, instead of one that is made")
    options = parser.parse_args()
    with workplace() as folder:
        log = options.log or make_log(folder / f"{MEGABYTES}.log", make_trace(folder), MEGABYTES)
        page = folder / "page.html"
        runs = run_in_turn([report(log, page)], max(1, options.repeats))
        what = f"{log.stat().st_size / 1e6:.0f} MB"
        print_comparison(f"Wall time, {what}", "s", figures(runs, "wall_s"), f"median <= {WALL_BOUND_S} s")
        print_comparison(f"CPU time, {what}", "s", figures(runs, "cpu_s"), "")
        bound = f"median <= {PEAK_BOUND_MB} MB"
        print_comparison(f"Memory at its peak, {what}", "MB", figures(runs, "peak_mb"), bound)
        print(f"\nSize: {page.stat().st_size / 1e6:.1f} MB (<= {SIZE_BOUND_MB} MB)")
        for route in ("", "guards"):
            took = seconds_to_open(page, route)
            said = "no browser" if took is None else f"{took:.2f} s (<= {OPENS_BOUND_S} s)"
            print(f"Opens at #/{route}: {said}")


if __name__ == "__main__":
    main()
