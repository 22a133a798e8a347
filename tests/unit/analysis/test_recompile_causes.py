"""What is known of why a frame was recompiled, by the values that came."""

from dynamo_core.analysis.guard_failures import what_differed
from dynamo_core.analysis.recompile_sentences import cause_sentence
from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made_causes import causes, entry


def test_text_that_a_branch_asks_for_is_not_needed_as_a_number() -> None:
    (cause,) = causes(
        ["0/0: self.voice == 'low'  # if self.voice is not None:  # me/train.py:5 in f"],
        recompiled_entries=[entry(1, "L['self'].voice == 'high'", source="L['self'].voice")],
    )
    assert not cause.is_needed_as_number and "as a number" not in cause_sentence(cause)
    assert "mark_dynamic" not in recompile_advice(cause)[0].text


def test_a_version_that_another_thread_has_made_is_no_check_that_failed() -> None:
    (cause,) = causes(
        [
            "0/0: Unexpected recompilation: runtime guards failed even though they passed during "
            "recompilation-reason analysis. Please open an issue."
        ]
    )
    assert "two threads call it at once" in cause_sentence(cause)
    assert cause.failure is not None
    assert what_differed(cause.failure) == "nothing: a version that fits had come"
    assert "before the threads begin" in recompile_advice(cause)[0].text
