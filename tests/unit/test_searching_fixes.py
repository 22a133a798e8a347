"""The search for fixes, with runs that are made up: which are made, and what is concluded from them."""

from pathlib import Path

import pytest

from answering import answer
from dynamo_core.findings import Cost, Evidence, Finding
from dynamo_core.fix.search import refuse_unknown
from dynamo_core.shared.errors import NothingSelected

BREAK = Finding(
    *("graph break", "graph-break-0123456789ab", "a break", "", "", None, "f", "", None, False),
    *(Cost(), Evidence(times=2), (), ()),
)


@pytest.mark.parametrize("identity", ["3", "graph-break", "slow-loader-0123456789ab", "graph-break-1"])
def test_what_is_no_identity_is_refused_before_anything_runs(identity: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("open('ran', 'w')\n")
    result = answer("fix", "-y", "--finding", identity, "program.py", cwd=tmp_path)
    assert (result.exit_code, result.stderr.count("\n")) == (119, 1)
    assert f"--finding {identity}: no finding that has remedies is called so" in result.stderr
    assert not (tmp_path / "ran").exists()


def test_what_a_recording_does_not_have_is_refused() -> None:
    refuse_unknown([BREAK.identity], [BREAK])
    refuse_unknown(["recompile-0123456789ab"])
    with pytest.raises(NothingSelected, match=f"it has {BREAK.identity}"):
        refuse_unknown([BREAK.identity, "recompile-0123456789ab"], [BREAK])
    with pytest.raises(NothingSelected, match="it has no findings of the compiler's"):
        refuse_unknown([BREAK.identity], [])
