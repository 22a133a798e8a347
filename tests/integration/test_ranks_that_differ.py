"""Ranks of a real job, over gloo: what one compiles while others wait is told with its cost."""

import json
import os
from pathlib import Path

from launching import Runner
from running import PROGRAMS
from support.answering import answer
from support.documents import document

WAITS_OUTSIDE = """
import time, torch, torch.distributed as dist

dist.init_process_group("gloo")
step = torch.compile(lambda x: (x * 2).sum(), backend="eager")
for _ in range(8):
    total = step(torch.ones(8))
    if dist.get_rank() == 1:
        time.sleep(0.2)
    dist.all_reduce(total)
dist.destroy_process_group()
"""
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def test_a_recompile_on_one_rank_is_what_the_other_waited_for(run: Runner, tmp_path: Path) -> None:
    program = str(PROGRAMS / "ranks.py")
    assert run("run", "-o", "job", *TORCHRUN, program, "recompiles_between").exit_code == 0
    found = document("ranks", tmp_path / "job")["compile_waits"]
    (wait,) = [each for each in found["waits"] if each["compile"]["recompile_reason"] is not None]
    assert wait["rank"] == 1 and "expected 8, actual 9" in wait["compile"]["recompile_reason"]
    assert wait["compile"]["frame"] == "local" and wait["compile"]["place"]["line"] == 19
    (waiting,) = wait["waiting"]
    assert waiting["ranks"] == [0] and waiting["collective"] == "all_reduce of float32[8]"
    assert waiting["place"]["line"] == 26
    assert 0 < wait["seconds"] <= wait["compile"]["seconds"] and wait["seconds"] <= found["seconds"]
    assert [(clock["host"], clock["ranks"]) for clock in found["clocks"]] == [(os.uname().nodename, [0, 1])]
    assert found["noted_calls"] == found["calls"] == 4


def test_the_rank_that_comes_last_to_exchange_gradients_is_named(run: Runner, tmp_path: Path) -> None:
    assert run("run", "-o", "job", *TORCHRUN, str(PROGRAMS / "ranks.py"), "trains_slowly").exit_code == 0
    waits, comes_last = document("ranks", tmp_path / "job")["gradients"]
    assert [(each["rank"], each["module"], each["step"]) for each in (waits, comes_last)] == [
        (0, "Linear", 3),
        (1, "Linear", 3),
    ]
    assert waits["exchange_seconds"] > 0.15  # of 0.2 s of sleep
    title = answer("ranks", str(tmp_path / "job")).stdout.partition("\n")[0]
    assert "rank 1 came last to exchange gradients: in step 3" in title


def test_a_wait_outside_of_graphs_is_in_the_profile_that_the_page_names(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(WAITS_OUTSIDE)
    profiled = ("--profile", "--profile-steps", "2", "-o", "job")
    assert run("run", *profiled, *TORCHRUN, "outside.py").exit_code == 0
    page = " ".join(answer("ranks", str(tmp_path / "job")).stdout.split())
    assert "Not measured: how long ranks wait in collectives outside of compiled graphs." in page
    assert "`dynamo profile --format chrome` draws that" in page
    drawn = json.loads(answer("profile", str(tmp_path / "job"), "--format", "chrome").stdout)["traceEvents"]
    names = {each["pid"]: each["args"]["name"] for each in drawn if each["name"] == "process_name"}
    waits = [(names[each["pid"]], each["dur"]) for each in drawn if each["name"] == "gloo:all_reduce"]
    assert max(each for of, each in waits if of == "rank 0") > 150_000  # microseconds, of 0.2 s of sleep
    assert min(each for of, each in waits if of == "rank 1") < 150_000
