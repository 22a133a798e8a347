"""No file is longer than a reader keeps in mind."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 500
FOLDERS = ("core", "reporters", "dynamo_cli", "dynamo_pytest", "tests", "benchmarks")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_file_is_past_the_limit() -> None:
    assert FILES
    assert {str(path): lines_of(path) for path in FILES if lines_of(path) > MOST_LINES} == {}
