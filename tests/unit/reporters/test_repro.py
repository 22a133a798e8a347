"""What the report of `dynamo repro` goes on with."""

from dynamo_core.repro.failure import Failure
from dynamo_core.repro.result import Proof, Repro
from dynamo_reporters.report import document
from dynamo_reporters.repro import report

FAILURE = Failure("exception", "ValueError", "no such row")


def found(proof: Proof | None) -> Repro:
    return Repro("graph", "exception", FAILURE, "import torch\n", "9 operations", "1 operation", proof=proof)


def commands(proof: Proof | None) -> list[str]:
    return [each["command"] for each in document(report("my repro.py"), found(proof))["next"]]


def test_a_proven_file_can_be_run_and_no_other() -> None:
    assert commands(Proof(2, 2, 2, None)) == ["python 'my repro.py'"]
    assert commands(Proof(2, 1, 2, None)) == commands(None) == []
