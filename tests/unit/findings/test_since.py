"""What became of the findings of the run before, in words."""

from dynamo_core.findings.since import Since


def test_what_is_gone_and_what_is_new_is_named_by_kind_and_place() -> None:
    since = Since("/work/.dynamo/a-1", ["graph break at train.py:7"], [], 2)
    assert since.sentence == (
        "Findings beside the run before (a-1): 1 gone (graph break at train.py:7), none new, 2 still there."
    )


def test_of_many_three_are_named_and_all_are_counted() -> None:
    lines = [f"graph break at train.py:{line}" for line in range(4)]
    assert (
        f"none gone, 4 new ({', '.join(lines[:3])}, …), none still there" in Since("r", [], lines, 0).sentence
    )


def test_what_only_verifying_finds_is_no_new_finding_and_is_named() -> None:
    since = Since("r", [], [], 1, by_verify=["wrong result at train.py:7"])
    assert since.sentence.endswith(
        "none gone, none new, 1 still there. "
        "--verify, which that run did not have, finds 1 more (wrong result at train.py:7)."
    )


def test_that_neither_run_found_anything_is_said() -> None:
    assert Since("r", [], [], 0).sentence == "Findings beside the run before (r): neither has any."


def test_of_a_run_that_did_not_end_well_nothing_is_gone() -> None:
    sentence = Since("/work/a-1", [], [], 0, is_compared=False).sentence
    assert sentence == "Findings beside the run before (a-1): not compared, since this run did not end well."
