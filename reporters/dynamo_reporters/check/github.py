"""What GitHub shows beside the lines of a pull request: workflow commands, one a line.

Source: GitHub's documentation, "Workflow commands for GitHub Actions", and `escapeData`, `escapeProperty` in
actions/toolkit (packages/core/src/command.ts).
"""

from collections.abc import Iterator, Mapping

from dynamo_core.analysis.findings import Finding
from dynamo_core.analysis.shown_paths import relative_path
from dynamo_core.lock.comparison import Checked, Difference

from .report import verdict


def annotations(checked: Checked, findings: Mapping[str, Finding]) -> str:
    """An error for what got worse, a notice for what got better."""
    lines = [_annotation("error", each, findings) for each in checked.worse]
    lines += [_annotation("notice", each, findings) for each in checked.better]
    if not checked.is_locked:
        lines.append(f"::notice title=dynamo check::{_data(f'{checked.program}: {verdict(checked)}')}")
    return "".join(f"{line}\n" for line in lines)


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
