"""What pyproject.toml lists by hand is whole."""

import re
from pathlib import Path

from dynamo_cli.main import COMMANDS
from dynamo_reporters.registry import REPORTS

REPOSITORY = Path(__file__).resolve().parents[2]


def test_every_report_is_among_those_that_import_no_sibling() -> None:
    modules = {report.document.partition(":")[0].partition(".")[0] for report in REPORTS.values()}
    reports = {module.removesuffix("_document") for module in modules}
    text = (REPOSITORY / "pyproject.toml").read_text()
    (independent,) = re.findall(r'type = "independence"\nmodules = \[(.*?)\]', text, re.DOTALL)
    assert reports == set(re.findall(r'"dynamo_reporters\.(\w+)"', independent))


def test_every_report_has_a_command() -> None:
    for name, report in REPORTS.items():
        assert bool(report.summary) != bool(report.command), name
        assert (name in COMMANDS) == bool(report.summary), name
