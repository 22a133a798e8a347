"""The arguments of graphs' calls, saved for `dynamo repro --values`."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from dynamo_core.capture.interventions.graph_inputs import saving_inputs
from dynamo_core.shared.names import SAVED_INPUTS


def saved(folder: Path, call: int | str) -> Any:
    return torch.load(folder / SAVED_INPUTS.format(pid=os.getpid(), graph=3, call=call))


def test_first_calls_are_saved_as_they_begin(tmp_path: Path) -> None:
    call = saving_inputs(str(tmp_path), lambda rows, count: rows.add_(count), 3)
    rows = torch.zeros(2)
    for _ in range(3):
        call(rows, 1)
    assert [saved(tmp_path, each)[0].tolist() for each in (1, 2)] == [[0, 0], [1, 1]]
    assert saved(tmp_path, 1)[1] == 1
    assert len(list(tmp_path.iterdir())) == 2


def test_strides_and_shared_storage_are_kept(tmp_path: Path) -> None:
    rows = torch.arange(6.0).reshape(2, 3)
    saving_inputs(str(tmp_path), lambda *given: None, 3)(rows.t(), rows, torch.zeros(1).expand(4))
    turned, same, expanded = saved(tmp_path, 1)
    assert (turned.stride(), expanded.stride()) == ((1, 3), (0,))
    assert turned.untyped_storage().data_ptr() == same.untyped_storage().data_ptr()


def test_a_later_call_that_raises_is_saved(tmp_path: Path) -> None:
    def fails_at_nine(rows: torch.Tensor) -> None:
        if rows.item() == 9:
            raise ValueError

    call = saving_inputs(str(tmp_path), fails_at_nine, 3)
    for value in range(9):
        call(torch.tensor(value))
    with pytest.raises(ValueError):
        call(torch.tensor(9))
    assert saved(tmp_path, "raised")[0].item() == 9


def test_what_is_no_plain_tensor_or_cannot_be_written_harms_nothing(tmp_path: Path) -> None:
    class Own(torch.Tensor):
        pass

    saving_inputs(str(tmp_path), lambda *given: None, 3)(torch.ones(1).as_subclass(Own), "text")
    assert saved(tmp_path, 1) == [None, None]
    call = saving_inputs(str(tmp_path / "nowhere"), lambda rows: rows + 1, 3)
    assert call(torch.ones(1)).item() == 2
