"""What CI servers show as tests: a JUnit XML file with one test case for the program."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from dynamo_core.analysis.findings import Finding
from dynamo_core.lock.comparison import Checked

from ..page.console import plain_text
from .report import check_blocks, verdict

_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(checked: Checked, findings: Mapping[str, Finding]) -> str:
    """The file's text. What got worse is a failure, and nothing to compare with is skipped."""
    is_worse = bool(checked.worse)
    counts = {"tests": 1, "failures": int(is_worse), "errors": 0, "skipped": int(not checked.is_locked)}
    attributes = {name: str(count) for name, count in counts.items()}
    suite = ElementTree.Element("testsuite", {"name": "dynamo check", **attributes})
    case = ElementTree.SubElement(suite, "testcase", classname="dynamo.check", name=_safe(checked.program))
    if is_worse:
        failure = ElementTree.SubElement(case, "failure", message=_safe(verdict(checked)), type="worse")
        failure.text = _safe(plain_text(check_blocks(checked, findings)))
    elif not checked.is_locked:
        ElementTree.SubElement(case, "skipped", message=verdict(checked))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _safe(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold."""
    return _NO_XML.sub("?", text)
