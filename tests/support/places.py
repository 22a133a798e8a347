"""Where things of this repository are."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BROKEN_PROGRAMS = REPOSITORY / "tests/integration/broken_programs"
