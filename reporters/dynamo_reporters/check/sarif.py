"""What code scanners show: SARIF 2.1.0, with each finding's identity as its fingerprint.

Source: the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from dynamo_core import __version__
from dynamo_core.analysis.findings import Finding
from dynamo_core.analysis.shown_paths import relative_path
from dynamo_core.lock.comparison import Checked, Difference

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(checked: Checked, findings: Mapping[str, Finding]) -> dict[str, Any]:
    """A log with one result for each thing that got worse."""
    results = [_result(each, findings.get(each.identity or "")) for each in checked.worse]
    rules = sorted({result["ruleId"] for result in results})
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "dynamo",
                        "version": __version__,
                        "rules": [{"id": rule, "name": _camel(rule)} for rule in rules],
                    }
                },
                "results": results,
            }
        ],
    }


def _result(difference: Difference, finding: Finding | None) -> dict[str, Any]:
    kind = "count" if finding is None else finding.kind
    text = difference.text if finding is None else f"{difference.text}. {finding.cause}"
    result: dict[str, Any] = {
        "ruleId": kind.replace(" ", "-"),
        "level": "error",
        "message": {"text": text},
        "partialFingerprints": {"dynamo/v1": difference.identity or difference.text.partition(":")[0]},
    }
    if finding is not None and finding.place is not None and finding.place.file:  # none if it is damaged
        file = relative_path(finding.place.file)
        location = {"artifactLocation": {"uri": quote(PurePath(file).as_posix())}}
        region = {"region": {"startLine": max(1, finding.place.line)}}
        result["locations"] = [{"physicalLocation": {**location, **region}}]
    return result


def _camel(rule: str) -> str:
    return "".join(part.capitalize() for part in rule.split("-"))
