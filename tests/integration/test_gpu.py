"""The same on a GPU. Skipped where there is none."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.answering import Result

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
]

PROGRAMS = Path(__file__).resolve().parents[1] / "gpu_programs"
TRAIN = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    loss = model(torch.ones(32, 64, device="cuda")).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
print(round(loss.item(), 4))
"""


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_a_training_step_is_captured(
    mode: str, explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    document = explained("--mode", mode, "train.py")
    assert document["problems"] == []
    assert document["summary"]["graph_calls"] == 20 * document["summary"]["graphs"]
    assert any("cuda:0" in device for device in document["processes"][0]["devices"])


def test_cuda_visible_devices_set_by_the_program_is_minded(
    explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "hidden.py").write_text(
        "import os; os.environ['CUDA_VISIBLE_DEVICES'] = ''\n"
        "import torch; assert not torch.cuda.is_available()\n"
    )
    assert explained("hidden.py")["summary"]["exit_code"] == 0


def test_cuda_graphs_that_are_skipped_and_recorded_for_each_size(
    explained: Callable[..., dict[str, Any]],
) -> None:
    document = explained(PROGRAMS / "cuda_graphs.py", env={"DEVICE": "cuda"})
    assert document["problems"] == []
    findings = {each["kind"]: each for each in document["findings"]}
    skipped, many = findings["CUDA graphs skipped"], findings["many CUDA graphs"]
    assert skipped["source"] == "x.add_(1)" and "mutated inputs" in skipped["title"]
    assert "12 sizes" in many["title"] and many["cost"]["lost"]["seconds"] > 0
    writes, of_any_size = (graph["cuda_graphs"] for graph in document["processes"][0]["graphs"])
    assert writes["recorded"] == 0 and writes["skipped"][0]["line"]["text"] == "x.add_(1)"
    assert of_any_size["recorded"] == of_any_size["warmed_up"] == of_any_size["sizes"] == 12


def test_captured_steps_are_recorded_where_the_program_marks_them(
    explained: Callable[..., dict[str, Any]],
) -> None:
    def of(program: str) -> tuple[dict[str, Any], list[str]]:
        document = explained("--mode", "reduce-overhead", PROGRAMS / program, env={"DEVICE": "cuda"})
        remedies = [
            remedy["text"]
            for each in document["findings"]
            if each["kind"] == "CUDA graphs skipped"
            for remedy in each["remedies"]
        ]
        return document["processes"][0]["graphs"][0]["cuda_graphs"], remedies

    use, [remedy] = of("trains.py")
    assert use["recorded"] == 0 and "alive at each call" in use["skipped"][0]["reason"]
    assert "cudagraph_mark_step_begin" in remedy
    use, remedies = of("trains_in_steps.py")
    assert use["recorded"] >= 2 and (use["skipped"], remedies) == ([], [])


def test_cuda_graphs_of_inputs_in_place_and_elsewhere(explained: Callable[..., dict[str, Any]]) -> None:
    document = explained(PROGRAMS / "cuda_graphs_in_place.py", env={"DEVICE": "cuda"})
    assert document["problems"] == []
    writes, weighted = (graph["cuda_graphs"] for graph in document["processes"][0]["graphs"])
    assert (writes["recorded"], writes["skipped"]) == (1, [])
    assert weighted["recorded_again"] == {"an input at another address": weighted["recorded"] - 1}
    [many] = [each for each in document["findings"] if each["kind"] == "many CUDA graphs"]
    assert "copy_" in many["remedies"][0]["text"]


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_graphs_are_timed_on_the_gpu(mode: str, run: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    result = run("profile", "--format", "json", "--mode", mode, "train.py")
    assert result.exit_code == 0, result.stderr
    [process] = json.loads(result.stdout)["processes"]
    wall = process["wall_time"]
    assert sum(part["seconds"] or 0 for part in wall["parts"]) == pytest.approx(wall["seconds"], rel=0.02)
    [graph] = process["graphs"]
    for times in (graph["forward"], graph["backward"]):
        assert times["calls"] == 20
        assert times["device_samples"] > 0
        assert times["device_seconds_each"] > 0
