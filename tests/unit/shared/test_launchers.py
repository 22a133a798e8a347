"""What launchers say of a process, and which processes of a folder are the ranks to compare."""

from collections.abc import Mapping

import pytest

from dynamo_core.analysis.ranks.members import Launch, select_ranks
from dynamo_core.shared.launchers import attempt_of, job_of, rank_of

TORCHRUN = {"RANK": "3", "TORCHELASTIC_RUN_ID": "abc", "TORCHELASTIC_RESTART_COUNT": "2"}
SLURM = {"SLURM_PROCID": "5", "SLURM_JOB_ID": "77", "SLURM_RESTART_COUNT": "1"}
POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}


@pytest.mark.parametrize(
    ("environment", "job", "attempt", "rank"),
    [
        ({}, None, [0, 0], None),
        ({"RANK": "3", "WORLD_SIZE": "4"}, None, [0, 0], 3),
        ({"RANK": "three"}, None, [0, 0], None),
        (TORCHRUN, "abc", [0, 2], 3),
        ({**TORCHRUN, "TORCHELASTIC_RUN_ID": "none"}, None, [0, 2], 3),
        (SLURM, "77", [1, 0], 5),
        ({**SLURM, "SLURM_ARRAY_JOB_ID": "70", "SLURM_ARRAY_TASK_ID": "7"}, "70_7", [1, 0], 5),
        ({**SLURM, **TORCHRUN}, "77-abc", [1, 2], 3),
        ({"OMPI_COMM_WORLD_RANK": "6", "PBS_JOBID": "9.host"}, "9.host", [0, 0], 6),
        ({**POD, "HOSTNAME": "train-big-2-x7k2p", "JOB_COMPLETION_INDEX": "2"}, "train-big", [0, 0], 2),
        ({**POD, "HOSTNAME": "v-2-big-2-x7k2p", "JOB_COMPLETION_INDEX": "2"}, "v-2-big", [0, 0], 2),
        ({**POD, "HOSTNAME": "train-big-2", "JOB_COMPLETION_INDEX": "2"}, "train-big", [0, 0], 2),
        ({**POD, "HOSTNAME": "bert-worker-11", "RANK": "12"}, "bert", [0, 0], 12),
        ({**POD, "HOSTNAME": "web-5d4f"}, None, [0, 0], None),
    ],
)
def test_what_a_launcher_says(
    environment: Mapping[str, str], job: str | None, attempt: list[int], rank: int | None
) -> None:
    assert job_of(environment) == job
    assert attempt_of(environment) == attempt
    assert (rank_of(environment) or (None,))[0] == rank


def test_torchruns_word_is_surer_than_that_of_what_started_it() -> None:
    worker, agent = rank_of({**SLURM, **TORCHRUN}), rank_of(SLURM)
    assert worker is not None and agent is not None and worker[1] < agent[1]
    pod_of_the_operator = rank_of({"RANK": "0"})
    assert pod_of_the_operator is not None and worker[1] < pod_of_the_operator[1]


def launch(rank: int | None, started_ns: int, **fields: object) -> Launch:
    usual = Launch("job", (0, 0), rank, 0, "host", 1, started_ns, False)
    return usual._replace(**fields)  # type: ignore[arg-type]


def test_an_attempt_that_was_larger_leaves_no_rank_behind() -> None:
    first = [launch(rank, 1 + rank) for rank in range(4)]
    again = [launch(rank, 10 + rank, attempt=(0, 1)) for rank in range(2)]
    found = select_ranks([*first, *again])
    assert found.ranks == {0: 4, 1: 5}
    assert found.left_out == ("an earlier attempt at the job (restart 0, 4 processes)",)


def test_a_requeued_job_starts_its_restarts_anew() -> None:
    found = select_ranks([launch(0, 1, attempt=(0, 3)), launch(0, 2, attempt=(1, 0))])
    assert found.ranks == {0: 1}
    assert found.left_out == ("an earlier attempt at the job (requeue 0, restart 3, 1 process)",)


def test_the_last_job_is_compared_and_the_others_are_counted() -> None:
    jobs = [launch(rank, at, job=name) for name, at in (("a", 5), ("b", 9), ("c", 1)) for rank in range(2)]
    found = select_ranks(jobs)
    assert found.ranks == {0: 2, 1: 3}
    assert found.left_out == ("2 earlier jobs in the same folder",)


def test_the_agent_of_torchrun_under_srun_is_no_rank() -> None:
    found = select_ranks([launch(0, 1, unsure=4), launch(0, 2), launch(1, 3)])
    assert (found.ranks, found.left_out) == ({0: 1, 1: 2}, ())


def test_without_a_name_of_the_job_the_parent_tells_runs_apart() -> None:
    first = [launch(rank, 1, job=None) for rank in range(3)]
    second = [launch(rank, 5, job=None, parent=2) for rank in range(2)]
    beside = [launch(2, 4, job=None, host="other", parent=7)]
    found = select_ranks([*first, *second, *beside])
    assert found.ranks == {0: 3, 1: 4, 2: 5}
    assert found.left_out == ("3 processes that had the same ranks earlier",)


def test_forked_workers_and_processes_without_a_rank_are_no_ranks() -> None:
    assert select_ranks([launch(None, 1), launch(0, 2, forked=True)]).ranks == {}
