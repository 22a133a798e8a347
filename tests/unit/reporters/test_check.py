"""What `dynamo check` says of its verdict: the page, the JUnit file, the document, and the facts it keeps."""

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from dynamo_core.compare.lock import Checked, Difference
from dynamo_core.compare.lock_file import Facts, facts_and_findings, facts_of
from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.findings.matching import KnownFinding
from dynamo_core.model import Place
from dynamo_reporters.check import check_blocks, counts_sentence, report, verdict
from dynamo_reporters.check_ci import junit
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.report import document as as_json
from support.made import compiled, of_one_process
from support.made_findings import a_break
from support.schemas import validate

COUNTS = {"graphs": 2, "graph-breaks": 1, "recompiles": 0, "frames-run-eager": None}
BREAK = Finding(
    *("graph break", "graph-break-1", "a break", "it prints", "", Place("/home/me/train.py", 7), "f"),
    *("print(x)", None, False, Cost(), Evidence(), (), ()),
)
FOUND = {BREAK.identity: BREAK}
WORSE_COUNT, BETTER_COUNT = Difference("worse", "graphs: 2 → 3"), Difference("better", "recompiles: 2 → 0")
NEW = Difference("worse", "new: graph break in train.py f", BREAK.identity)
GONE = Difference("better", "gone: graph break in train.py g", "graph-break-2")


def checked(*differences: Difference, is_locked: bool = True, **known: Any) -> Checked:
    return Checked("train.py", Facts(COUNTS), is_locked, differences, **known)


def page(found: Checked, **known: Any) -> list[str]:
    return [line.strip() for line in plain_text(check_blocks(found, FOUND, **known)).splitlines() if line]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (checked(), "unchanged"),
        (checked(not_comparable=("graphs",)), "unchanged, as far as it was recorded"),
        (checked(WORSE_COUNT), "worse, 1 count"),
        (checked(WORSE_COUNT, Difference("worse", "recompiles: 0 → 2")), "worse, 2 counts"),
        (checked(WORSE_COUNT, NEW), "worse, 1 finding"),
        (checked(NEW, replace(NEW, identity="graph-break-3")), "worse, 2 findings"),
        (checked(BETTER_COUNT, WORSE_COUNT), "worse, 1 count"),
        (checked(GONE, BETTER_COUNT), "better, 1 finding"),
        (checked(BETTER_COUNT), "better, 1 count"),
        (checked(is_accepted=True), "accepted, 3 facts written"),
        (checked(is_accepted=True, not_comparable=("graphs",)), "accepted, 3 facts written"),
        (checked(is_locked=False), "nothing to compare with"),
        (checked(is_locked=False, is_accepted=True), "nothing to compare with"),
    ],
)
def test_the_verdict_names_the_worst_and_counts_findings_before_counts(found: Checked, words: str) -> None:
    assert verdict(found) == words


def test_counts_that_were_not_recorded_are_said_to_be_so() -> None:
    assert counts_sentence(checked()) == (
        "graphs 2, graph-breaks 1, recompiles 0, frames-run-eager not recorded."
    )


def test_counts_that_differ_from_run_to_run_are_said_from_which_to_which() -> None:
    varying = Checked("train.py", Facts(COUNTS, varying={"graphs": "2 to 7 in 4 runs"}), False, ())
    assert counts_sentence(varying).startswith("graphs 2 to 7 in 4 runs, graph-breaks 1, ")


def test_what_is_worse_comes_before_what_is_better_and_lines_before_findings() -> None:
    assert page(checked(NEW, WORSE_COUNT, GONE, not_comparable=("recompiles", "graphs"))) == [
        "train.py: worse, 1 finding",
        "graphs 2, graph-breaks 1, recompiles 0, frames-run-eager not recorded.",
        "The command fails with exit code 112.",
        "Not compared, as one side did not record it: recompiles, graphs.",
        "Worse",
        "- graphs: 2 → 3",
        "new: graph break in train.py f",
        "/home/me/train.py:7: it prints",
        "to allow it: --allow graph-break-1",
        "Better",
        "- gone: graph break in train.py g",
    ]


def remedy(text: str) -> Remedy:
    return Remedy("edit", text, "dynamo check train.py")


def test_a_finding_has_its_first_remedy_and_its_tests() -> None:
    evidence = Evidence(tests=("test_a.py::test_step",))
    full = replace(BREAK, evidence=evidence, remedies=(remedy("do not print"), remedy("or else")))
    text = plain_text(check_blocks(checked(NEW), {full.identity: full}))
    assert "in test_a.py::test_step" in text
    assert "→ do not print" in text
    assert "or else" not in text
    assert "→" not in "\n".join(page(checked(NEW)))


def test_a_program_that_failed_has_an_exit_code_of_its_own() -> None:
    failed = "\n".join(page(checked(WORSE_COUNT), has_failed=True))
    assert (
        "The program failed, and the exit code is its own; what it did not reach is missing here." in failed
    )
    assert "The command fails" not in failed
    assert "fail" not in "\n".join(page(checked(BETTER_COUNT)))


def case(found: Checked) -> tuple[dict[str, str], ElementTree.Element]:
    suite = ElementTree.fromstring(junit(found, FOUND))
    (only,) = suite
    return dict(suite.attrib), only


def test_as_a_test_what_is_worse_is_a_failure_and_nothing_to_compare_with_is_skipped() -> None:
    attributes, test = case(checked(NEW))
    assert attributes == {
        "name": "dynamo check",
        "tests": "1",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
    }
    (failure,) = test
    assert (failure.tag, failure.attrib["message"]) == ("failure", "worse, 1 finding")
    assert "to allow it: --allow graph-break-1" in (failure.text or "")
    attributes, test = case(checked(is_locked=False))
    assert (attributes["failures"], attributes["skipped"]) == ("0", "1")
    assert [(each.tag, each.attrib) for each in test] == [("skipped", {"message": "nothing to compare with"})]
    attributes, test = case(checked(BETTER_COUNT))
    assert (attributes["failures"], attributes["skipped"], [*test]) == ("0", "0", [])


def test_what_xml_cannot_hold_is_a_question_mark() -> None:
    named = replace(checked(), program="a\x00b\x1bc\td\ufffee\ud800é😀")
    assert case(named)[1].attrib["name"] == "a?b?c\td?e?é😀"


def test_the_document_has_the_finding_where_this_run_has_it() -> None:
    document = as_json(
        report(of_one_process(), FOUND), checked(NEW, GONE, WORSE_COUNT, not_comparable=("recompiles",))
    )
    validate(document)
    assert [each["direction"] for each in document["differences"]] == ["worse", "better", "worse"]
    assert [each["finding"] and each["finding"]["identity"] for each in document["differences"]] == [
        "graph-break-1",
        None,
        None,
    ]
    assert document["counts"][-1] == {"name": "frames-run-eager", "count": None}
    assert (document["program"], document["is_locked"], document["not_comparable"]) == (
        "train.py",
        True,
        ["recompiles"],
    )


def test_facts_are_numbered_by_their_lines_and_known_by_the_names_of_counts() -> None:
    known = KnownFinding("graph-break-1", "graph break", "train.py", "f", "print(x)")
    facts = Facts(COUNTS, {known.identity: known})
    assert facts.number == 4
    assert (facts.count_of("distinct_graph_breaks"), facts.count_of("graphs")) == (1, 2)
    assert facts.count_of("frames_fell_back") is None
    assert facts.count_of("calls") is None


def test_nothing_compiled_is_known_only_where_every_count_was_recorded() -> None:
    none = dict.fromkeys(COUNTS, 0)
    known = KnownFinding("graph-break-1", "graph break", "train.py", "f", "print(x)")
    assert Facts(none).is_empty
    assert not Facts(none | {"graphs": 1}).is_empty
    assert not Facts(none | {"graphs": None}).is_empty
    assert not Facts(none, {known.identity: known}).is_empty


def test_a_finding_is_kept_without_folders_numbers_of_lines_and_spaces() -> None:
    one = a_break(7, "C:\\me\\train.py", "if  x.sum()\t> 0:")
    one = replace(one, stack=(one.stack[0]._replace(function="torch_dynamo_resume_in_forward_at_3"),))
    recording = of_one_process(breaks=[one], compiles=[compiled(0)])
    facts, findings = facts_and_findings(recording)
    ((identity, known),) = facts.findings.items()
    assert (known.kind, known.file, known.line) == ("graph break", "train.py", "if x.sum() > 0:")
    assert known.function == "forward"
    assert [*findings] == [identity] == [known.identity]
    assert facts_of(recording) == facts
