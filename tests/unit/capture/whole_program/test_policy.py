"""Which frames the policy takes: forward methods, whatever their code is named, and own functions."""

from types import CodeType, SimpleNamespace

import pytest
import torch

from dynamo_core.capture.whole_program.policy import NEVER, TAKE, Policy

_LIBRARY = compile("def forward(self, x):\n    return x + 1\n", "/lib/site-packages/library.py", "exec")


class Module(torch.nn.Module):
    """A module whose forward stands in a library."""


@pytest.mark.parametrize(
    ("name", "verdict"), [("forward", TAKE), ("Module.forward", TAKE), ("Module.forward_parameters", NEVER)]
)
def test_a_forward_is_taken_by_the_last_part_of_its_name(name: str, verdict: str) -> None:
    (code,) = (each for each in _LIBRARY.co_consts if isinstance(each, CodeType))
    frame = SimpleNamespace(
        f_code=code.replace(co_name=name), f_locals={"self": Module(), "x": torch.ones(2)}, f_globals={}
    )
    assert Policy("auto").verdict(frame) == verdict  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("file", "module", "verdict"),
    [
        ("/tmp/generated.py", "torch.generated", NEVER),  # as torch_geometric writes modules of its package
        ("/tmp/generated.py", "steps", TAKE),
        ("<string>", "steps", NEVER),
        ("<string>", "__main__", TAKE),
    ],
)
def test_code_that_a_library_writes_is_not_the_programs(file: str, module: str, verdict: str) -> None:
    (code,) = (each for each in _LIBRARY.co_consts if isinstance(each, CodeType))
    frame = SimpleNamespace(
        f_code=code.replace(co_name="propagate", co_filename=file),
        f_locals={"self": None, "x": torch.ones(2)},
        f_globals={"__name__": module},
    )
    assert Policy("auto").verdict(frame) == verdict  # type: ignore[arg-type]
