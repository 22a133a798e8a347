"""Reasons of torch's, as a title has them."""

from dynamo_core.analysis.words import first_line


def test_a_reason_is_one_line_without_what_is_for_developers_of_torch() -> None:
    assert first_line(None) == "no reason recorded"
    assert first_line("Unsupported: x\nmore") == "Unsupported: x"
    assert first_line("failed because:\n  the size differs\nmore") == "failed because: the size differs"
    of_a_guard = (
        "AssertionError: Guard failed on the same frame it was created. This is a bug - please create an "
        "issue.Guard fail reason: 0/0: ___check_obj_id(self.step, 1405)\nUser stack trace:\n"
    )
    assert first_line(of_a_guard) == "AssertionError: Guard failed on the same frame it was created"
