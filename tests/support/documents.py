"""JSON documents of reports, each held against its schema."""

import json
from pathlib import Path
from typing import Any

from support.answering import answer
from support.schemas import validate


def document(report: str, *arguments: str | Path, **surroundings: Any) -> dict[str, Any]:
    """What `dynamo REPORT ARGUMENTS --format json` gives."""
    result = answer(report, *arguments, "--format", "json", **surroundings)
    assert result.exit_code == 0, result.stderr
    told: dict[str, Any] = json.loads(result.stdout)
    assert told["schema"] == f"dynamo-{report}"
    validate(told)
    return told
