"""Which of torch's names differ between two versions, on two small trees and a module that uses them."""

from pathlib import Path

import pytest
from torch_names import Tree, differences

_USES = '''
"""Source: torch/fx/tracer.py (Tracer.trace, is_tracing), cited."""
import torch
from torch._dynamo.guards import Builder


def install(guards, parts):
    parts.probes.hook(guards.Builder, "build", "guards", None)
    torch.fx.tracer.flag
    torch._C.not_in_python
'''


def _tree(folder: Path, version: str, tracer: str, guards: str) -> Tree:
    files = {
        "version.py": f"__version__ = '{version}'\n",
        "fx/tracer.py": tracer,
        "_dynamo/guards.py": "from .building import Builder\n",
        "_dynamo/building.py": guards,
    }
    for name, text in files.items():
        file = folder / "torch" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Tree(folder)


def test_what_is_gone_changed_or_takes_other_parameters(tmp_path: Path) -> None:
    old = _tree(
        tmp_path / "old",
        "2.1",
        "flag = False\ndef is_tracing(): return flag\nclass Tracer:\n  def trace(self, root): return 1\n",
        "class Builder:\n  def build(self, guard: int): ...\n",
    )
    new = _tree(
        tmp_path / "new",
        "2.2",
        "def is_tracing(): return False\nclass Tracer:\n  def trace(self, root: int): return 1  # the same\n",
        "class Builder:\n  def build(self, guard, hints): ...\ndef flag(): ...\n",
    )
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / "probe.py").write_text(_USES)

    found = differences(old, new, ours)

    assert (old.version, new.version) == ("2.1", "2.2")
    assert found["gone"] == ["torch.fx.tracer.flag  (probe.py); defined in: torch._dynamo.building"]
    assert found["other parameters"] == ["torch._dynamo.guards.Builder.build  (probe.py): +hints"]
    assert found["other code"] == [
        "torch._dynamo.guards.Builder  (probe.py)",
        "torch.fx.tracer.is_tracing  (probe.py)",
    ]
    assert not any(differences(old, old, ours).values())


def test_a_folder_without_torch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="name a folder that holds a torch"):
        Tree(tmp_path)
