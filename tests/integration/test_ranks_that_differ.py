"""Ranks of a real job, over gloo: what one compiles while others wait is told with its cost."""

import os
from pathlib import Path

from launching import Runner
from running import PROGRAMS
from support.documents import document


def test_a_recompile_on_one_rank_is_what_the_other_waited_for(run: Runner, tmp_path: Path) -> None:
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    program = str(PROGRAMS / "ranks.py")
    assert run("run", "-o", "job", *torchrun, program, "recompiles_between").exit_code == 0
    found = document("ranks", tmp_path / "job")["compile_waits"]
    (wait,) = [each for each in found["waits"] if each["compile"]["recompile_reason"] is not None]
    assert wait["rank"] == 1 and "expected 8, actual 9" in wait["compile"]["recompile_reason"]
    assert wait["compile"]["frame"] == "local" and wait["compile"]["place"]["line"] == 17
    (waiting,) = wait["waiting"]
    assert waiting["ranks"] == [0] and waiting["collective"] == "all_reduce of float32[8]"
    assert waiting["place"]["line"] == 24
    assert 0 < wait["seconds"] <= wait["compile"]["seconds"] and wait["seconds"] <= found["seconds"]
    assert [(clock["host"], clock["ranks"]) for clock in found["clocks"]] == [(os.uname().nodename, [0, 1])]
    assert found["noted_calls"] == found["calls"] == 4
