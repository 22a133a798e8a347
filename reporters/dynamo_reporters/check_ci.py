"""What GitHub shows beside the lines of a pull request: workflow commands, one a line.

Source: GitHub's documentation, "Workflow commands for GitHub Actions", and `escapeData`, `escapeProperty` in
actions/toolkit (packages/core/src/command.ts).
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from dynamo_core import __version__
from dynamo_core.compare.lock import Checked, Difference
from dynamo_core.findings import Finding
from dynamo_core.shared.shown_paths import relative_path

from .check import check_blocks, verdict
from .page.console import plain_text


def annotations(checked: Checked, findings: Mapping[str, Finding]) -> str:
    """The verdict, for the log; an error for what got worse or differs from run to run, a notice for what got
    better.
    """
    outcome = _data(f"{checked.program}: {verdict(checked)}")
    lines = [f"dynamo check: {outcome}"]
    lines += [_annotation("error", each, findings) for each in (*checked.worse, *checked.varying)]
    lines += [_annotation("notice", each, findings) for each in checked.better]
    if not checked.is_locked:
        lines.append(f"::notice title=dynamo check::{outcome}")
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))  # two breaks of a line may read alike


def _annotation(level: str, difference: Difference, findings: Mapping[str, Finding]) -> str:
    finding = findings.get(difference.identity or "")
    properties = dict(_properties(finding))
    text = difference.text if finding is None else f"{difference.text}\n{finding.cause}{_remedy(finding)}"
    joined = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {joined}::{_data(text)}"


def _properties(finding: Finding | None) -> Iterator[tuple[str, str]]:
    yield "title", "dynamo check" if finding is None else f"dynamo check: {finding.kind}"
    # A damaged recording may have a place without a file.
    if finding is not None and finding.place is not None and finding.place.file and not finding.is_library:
        yield "file", relative_path(finding.place.file)
        yield "line", str(finding.place.line)


def _remedy(finding: Finding) -> str:
    return f"\n→ {finding.remedies[0].text}" if finding.remedies else ""


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# What CI servers show as tests: a JUnit XML file with one test case for the program.


_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(checked: Checked, findings: Mapping[str, Finding]) -> str:
    """The file's text. What got worse or differs from run to run is a failure, nothing to compare skipped."""
    has_failed = bool(checked.worse or checked.varying)
    is_skipped = not (checked.is_locked or has_failed)
    counts = {"tests": 1, "failures": int(has_failed), "errors": 0, "skipped": int(is_skipped)}
    attributes = {name: str(count) for name, count in counts.items()}
    suite = ElementTree.Element("testsuite", {"name": "dynamo check", **attributes})
    case = ElementTree.SubElement(suite, "testcase", classname="dynamo.check", name=_safe(checked.program))
    if has_failed:
        kind = "worse" if checked.worse else "differs from run to run"
        failure = ElementTree.SubElement(case, "failure", message=_safe(verdict(checked)), type=kind)
        failure.text = _safe(plain_text(check_blocks(checked, findings)))
    elif is_skipped:
        ElementTree.SubElement(case, "skipped", message=verdict(checked))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _safe(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold."""
    return _NO_XML.sub("?", text)


# What code scanners show: SARIF 2.1.0, with each finding's identity as its fingerprint.
#
# Source: the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(checked: Checked, findings: Mapping[str, Finding]) -> dict[str, Any]:
    """A log with one result for each thing that got worse or differs from run to run."""
    amiss = (*checked.worse, *checked.varying)
    results = [_result(each, findings.get(each.identity or "")) for each in amiss]
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
