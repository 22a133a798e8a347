"""What `dynamo check` tells GitHub and code scanners of a place."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.compare.lock import Checked, Difference
from dynamo_core.compare.lock_file import Facts
from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.model import Place
from dynamo_reporters.check_ci import annotations, sarif

BREAK = Finding(
    *("graph break", "graph-break-1", "a break", "", "", None, "f", "x", None, False),
    *(Cost(), Evidence(), (), ()),
)
CHECKED = Checked("p", Facts({}), True, (Difference("worse", "new", BREAK.identity),))


def locations(file: str) -> list[Any]:
    at_place = replace(BREAK, place=Place(file, 3))
    found: list[Any] = sarif(CHECKED, {BREAK.identity: at_place})["runs"][0]["results"][0].get(
        "locations", []
    )
    return found


def test_a_path_is_a_uri() -> None:
    assert "'a%20b%23%25.py'" in str(locations("a b#%.py"))


@pytest.mark.parametrize("file", ["", "a.py"])
def test_a_place_without_a_file_is_none(file: str) -> None:
    said = annotations(CHECKED, {BREAK.identity: replace(BREAK, place=Place(file, 3))})
    assert ("line=3" in said, bool(locations(file))) == (bool(file), bool(file))


COUNT = Difference("worse", "graphs: 2 → 3")


def test_the_fingerprint_is_the_findings_identity_or_the_name_of_the_count() -> None:
    both = replace(
        CHECKED, differences=(*CHECKED.differences, COUNT, Difference("better", "graph-breaks: 2 → 1"))
    )
    (run,) = sarif(both, {BREAK.identity: replace(BREAK, cause="it prints")})["runs"]
    assert [each["partialFingerprints"] for each in run["results"]] == [
        {"dynamo/v1": BREAK.identity},
        {"dynamo/v1": "graphs"},
    ]
    assert [each["message"]["text"] for each in run["results"]] == ["new. it prints", "graphs: 2 → 3"]
    assert [each["ruleId"] for each in run["results"]] == ["graph-break", "count"]
    assert run["tool"]["driver"]["rules"] == [
        {"id": "count", "name": "Count"},
        {"id": "graph-break", "name": "GraphBreak"},
    ]


def test_a_scanner_is_given_no_line_before_the_first() -> None:
    at_line = replace(BREAK, place=Place("a.py", 0))
    (result,) = sarif(CHECKED, {BREAK.identity: at_line})["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert (result["level"], "locations" in sarif(CHECKED, {})["runs"][0]["results"][0]) == ("error", False)


def test_github_gets_an_error_with_cause_and_first_remedy_and_a_notice_of_what_is_better() -> None:
    advice = tuple(Remedy("edit", text, "dynamo breaks") for text in ("use torch.where", "or nothing"))
    known = replace(BREAK, cause="100 % of it: prints", remedies=advice, place=Place("a,b.py", 3))
    both = replace(
        CHECKED, differences=(*CHECKED.differences, COUNT, Difference("better", "graph-breaks: 2 → 1"))
    )
    assert annotations(both, {BREAK.identity: known}).splitlines() == [
        "dynamo check: p: worse, 1 finding",
        "::error title=dynamo check%3A graph break,file=a%2Cb.py,line=3"
        "::new%0A100 %25 of it: prints%0A→ use torch.where",
        "::error title=dynamo check::graphs: 2 → 3",
        "::notice title=dynamo check::graph-breaks: 2 → 1",
    ]
    (_, nothing_known, *_) = annotations(both, {BREAK.identity: replace(known, remedies=())}).splitlines()
    assert nothing_known.endswith("prints")


def test_no_annotation_stands_beside_a_line_of_a_library() -> None:
    in_library = replace(BREAK, place=Place("a.py", 3), is_library=True)
    assert "file=" not in annotations(CHECKED, {BREAK.identity: in_library})


def test_github_is_told_that_there_was_nothing_to_compare_with() -> None:
    nothing = Checked("p", Facts({}), False)
    said = "p: nothing to compare with"
    assert annotations(nothing, {}) == f"dynamo check: {said}\n::notice title=dynamo check::{said}\n"


def test_the_log_of_a_check_that_passes_says_so() -> None:
    assert annotations(Checked("p", Facts({}), True), {}) == "dynamo check: p: unchanged\n"


def test_two_breaks_of_a_line_that_read_alike_are_one_annotation() -> None:
    twice = replace(
        CHECKED, differences=(CHECKED.differences[0], Difference("worse", "new", "graph-break-2"))
    )
    alike = replace(BREAK, place=Place("a.py", 3))
    assert annotations(twice, {BREAK.identity: alike, "graph-break-2": alike}).count("::error") == 1
