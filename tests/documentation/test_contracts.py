"""What pyproject.toml lists by hand is whole."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_every_report_is_among_those_that_import_no_sibling() -> None:
    reports = {each.parent.name for each in REPOSITORY.glob("reporters/dynamo_reporters/*/report.py")}
    text = (REPOSITORY / "pyproject.toml").read_text()
    (independent,) = re.findall(r'type = "independence"\nmodules = \[(.*?)\]', text, re.DOTALL)
    listed = set(re.findall(r'"dynamo_reporters\.(\w+)"', independent))
    assert reports and reports <= listed
