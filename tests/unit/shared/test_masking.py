"""What of command lines and environments is written down."""

import hashlib
import time

import pytest

from dynamo_core.capture.probes import trace_handler
from dynamo_core.shared import masking
from dynamo_core.shared.masking import MASK, masked, masked_arguments, masked_environment

SECRET = "s3cr3t-Value.1"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--api-token", SECRET],
        [f"--api-token={SECRET}"],
        ["--apiKey", SECRET],
        ["-password", SECRET],
        ["--password", f"-{SECRET}"],
        [f"db.password={SECRET}"],
        [f"+trainer.wandb_key={SECRET}"],
        ["--aws-secret-access-key", SECRET],
        ["--auth", f"user:{SECRET}"],
        ["--credentials", SECRET],
        [f"--access_tokens={SECRET}"],
        [f"--token={SECRET}"],
        ["--hf-token", SECRET],
        [f"HF_TOKEN={SECRET}"],
        ["--header", f"Authorization: Bearer {SECRET}"],
        ["--header", f"X-Api-Key: {SECRET}"],
        [f"Bearer {SECRET}"],
        [f'{{"token": "{SECRET}", "steps": 3}}'],
        [f"https://host/path?api_key={SECRET}&x=1"],
        [f"postgres://user:{SECRET}@host:5432/base"],
        [f"postgres://user:a/{SECRET}@host/base"],
        [f"redis://:{SECRET}@host"],
        [f"https://{SECRET}@host/simple"],
        [f"user:{SECRET}@host"],
        ["-c", f"import os; TOKEN = '{SECRET}'; main()"],
        ["hf_" + SECRET.replace("-", "").replace(".", "") + "abc"],
    ],
    ids=lambda arguments: " ".join(arguments)[:30],
)
def test_a_secret_is_masked(arguments: list[str]) -> None:
    told = " ".join(masked_arguments(["python", "train.py", *arguments, "--steps", "10"]))
    assert SECRET not in told and SECRET.replace("-", "").replace(".", "") not in told
    assert MASK in told
    assert told.startswith("python train.py ") and told.endswith("--steps 10")


@pytest.mark.parametrize(
    "begins",
    [
        "hf_",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "sk-",
        "pypi-",
        "AKIA",
        "ASIA",
        "AIza",
        "eyJ",
    ],
)
def test_a_known_kind_of_token_is_masked_without_a_name(begins: str) -> None:
    assert masked_arguments(["train.py", f"{begins}11ABCDEFG0123456789"]) == ["train.py", MASK]


def test_what_is_no_secret_stays() -> None:
    arguments = [
        "train.py",
        "--tokenizer",
        "gpt2",
        "--author",
        "me",
        "--keep",
        "a@b",
        "http://host:80/x",
        "a:b",
    ]
    assert masked_arguments(arguments) == arguments
    counts = [
        "--max_new_tokens=20",
        "--max-tokens",
        "5",
        "num_tokens: 3",
        "--eos_token_id=2",
        '{"tokens": 7}',
    ]
    assert masked_arguments(counts) == counts
    assert masked_arguments(["--use-auth-token", "--steps", "3"]) == ["--use-auth-token", "--steps", "3"]


def test_a_command_line_has_a_bound() -> None:
    told = masked_arguments(["x" * 100_000] * 1000)
    assert sum(map(len, told)) < 300_000
    assert told[-1] == "…"


def test_variables_are_recorded_by_exact_name_and_masked() -> None:
    environment = {
        "OMP_NUM_THREADS": "2",
        "CUDA_VISIBLE_DEVICES": "0",
        "RANK": "1",
        "TORCH_LOGS": f"+dynamo https://u:{SECRET}@host",
        "TORCH_HUB_TOKEN": SECRET,
        "TORCH_DB": f"postgres://u:{SECRET}@host/db",
        "TORCHX_X": SECRET,
        "DYNAMO_X": SECRET,
        "CUDA_LICENSE": SECRET,
        "NCCL_X": SECRET,
        "CCACHE": SECRET,
        "RANKING": SECRET,
        "MASTER_X": SECRET,
    }
    assert masked_environment(environment) == {
        "OMP_NUM_THREADS": "2",
        "CUDA_VISIBLE_DEVICES": "0",
        "RANK": "1",
        "TORCH_LOGS": f"+dynamo https://{MASK}@host",
    }


@pytest.mark.parametrize(
    "piece",
    [
        "://",
        "password",
        "key ",
        "key=",
        "http://a",
        "a:@",
        "a:b",
        "'",
        'token="',
        "Bearer ",
        "eyJ",
        "auth-",
        " ",
        "-",
    ],
)
def test_masking_takes_linear_time(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "_LONGEST_ARGUMENT", 10**9)
    for text in (piece * (300_000 // len(piece)), "http://" + piece * (300_000 // len(piece))):
        begun = time.process_time()
        masked(text)
        assert time.process_time() - begun < 1


def test_torchs_program_for_a_graph_sets_no_variable_of_anybody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {
        "TORCH_LOGS": "+dynamo",
        "TORCH_HUB_TOKEN": SECRET,
        "TRITON_X": f"two\nlines {SECRET}",
        "MY_TORCH": f"it's {SECRET}",
    }
    monkeypatch.setattr(trace_handler.os, "environ", variables)  # type: ignore[attr-defined]
    torchs = [
        """os.environ['{}'] = '{}'""".format(name, value.replace("'", '"'))
        for name, value in variables.items()
    ]
    payload = "\n".join(["import os", *torchs, "import torch"])
    metadata, told = trace_handler._without_secrets({"artifact": {}, "has_payload": "old"}, payload)
    assert told == "import os\nos.environ['TORCH_LOGS'] = '+dynamo'\nimport torch"
    assert metadata["has_payload"] == hashlib.md5(told.encode()).hexdigest()
