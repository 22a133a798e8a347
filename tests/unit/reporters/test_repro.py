"""What the report of `dynamo repro` goes on with, and whom the issue is for."""

from dataclasses import replace

import pytest

from dynamo_core.repro.failure import Failure
from dynamo_core.repro.own_passes import OwnPass
from dynamo_core.repro.result import Proof, Repro, Tried
from dynamo_reporters.page.blocks import Paragraph
from dynamo_reporters.report import document
from dynamo_reporters.repro import issue_text, report, repro_blocks

FAILURE = Failure("exception", "ValueError", "no such row")


def found(proof: Proof | None) -> Repro:
    return Repro("graph", "exception", FAILURE, "import torch\n", "9 operations", "1 operation", proof=proof)


def commands(proof: Proof | None) -> list[str]:
    return [each["command"] for each in document(report("my repro.py"), found(proof))["next"]]


def test_a_proven_file_can_be_run_and_no_other() -> None:
    assert commands(Proof(2, 2, 2, None)) == ["python 'my repro.py'"]
    assert commands(Proof(2, 1, 2, None)) == commands(None) == []


SCRIPT = Repro("source", "the script", FAILURE, "", "9 lines", "1 line")
EAGER = 'torch.compile(…, backend="eager")'


@pytest.mark.parametrize(
    ("of_script", "reader"),
    [
        (SCRIPT, "For https://github.com/pytorch/"),
        (
            Repro("source", "", FAILURE, "", "9 lines", "1 line", tried=[Tried(EAGER, avoids=False)]),
            "For https://github.com/pytorch/",
        ),
        (
            Repro("source", "", FAILURE, "", "9 lines", "1 line", tried=[Tried(EAGER, avoids=True)]),
            "For the author of the backend: with",
        ),
        (
            Repro("graph", "", FAILURE, "", "9 operations", "1 operation", backend="mine"),
            "For the author of the backend, `mine` in the program: with",
        ),
        (
            replace(SCRIPT, own_passes=(OwnPass("joint_custom_pre_pass", "Doubled", 7),)),
            "For the author of the pass, not for PyTorch: without the program's own Inductor pass "
            "`Doubled` (repro.py:7, joint_custom_pre_pass) it does not fail.",
        ),
    ],
)
def test_who_is_to_mend_it(of_script: Repro, reader: str) -> None:
    assert reader in issue_text(of_script, "repro.py")


@pytest.mark.parametrize(
    ("text", "is_warned"), [("import torch\n", False), ("@torch.library.custom_op('mine::f')\n", True)]
)
def test_operators_of_ones_own_keep_their_names_which_is_said(text: str, is_warned: bool) -> None:
    blocks = repro_blocks(replace(found(None), text=text), "repro.py")
    said = [each.text for each in blocks if isinstance(each, Paragraph)]
    assert any("look before you send it" in each for each in said) is is_warned


@pytest.mark.parametrize(("failed", "is_said"), [(2, True), (0, False)])
def test_what_was_tried_is_no_cure_of_a_file_that_does_not_fail_alone(failed: int, is_said: bool) -> None:
    wrong = Failure("wrong result", "", "output: it prints something else")
    tried = [Tried("fallback_random = True", avoids=True)]
    of_script = replace(SCRIPT, failure=wrong, stage="inductor", tried=tried, proof=Proof(2, failed, 2, None))
    text = issue_text(of_script, "repro.py")
    page = str(list(repro_blocks(of_script, "repro.py")))
    assert ("First stage" in text, "avoids it" in text, "since inductor" in text) == (is_said,) * 3
    assert ("it fails so from inductor" in page, "avoids it" in page) == (is_said,) * 2
    assert ("Not to be sent as it is" in text) is not is_said
    assert "Expected: in plain Python it gives what is right" in text
