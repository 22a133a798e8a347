"""What launchers say of a process in its environment: which job it is of, which attempt, which rank.

Read at the start of every observed Python process, so this module imports nothing. Sources: torchrun
(torch/distributed/elastic/agent/server/local_elastic_agent.py, `_start_workers`, 2.13), srun(1), Open MPI's
mpirun, MPICH's hydra, Kubernetes' indexed jobs, and the training operator of Kubeflow.
"""

TYPE_CHECKING = False  # typing is not imported here
if TYPE_CHECKING:
    from collections.abc import Mapping

JOB_IN_PATH = "{job}"  # in the place of a recording: a folder for each job

# The surest first: a torchrun that srun has started is task 0 of srun, and no rank itself.
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX")
_TORCHRUN, _OF_NO_JOB = "TORCHELASTIC_RUN_ID", "none"  # what torchrun says without --rdzv-id
_RESTARTS = ("SLURM_RESTART_COUNT", "TORCHELASTIC_RESTART_COUNT")  # the outer one first
_SCHEDULERS = ("RAY_JOB_ID", "LSB_JOBID", "PBS_JOBID", "FLUX_JOB_ID")
_LONGEST = 200  # characters

# What a rank has for itself, from its launcher or as its place for files; two ranks may differ in these.
OF_A_RANK = frozenset(
    {"RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "NODE_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR"}
    | {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"}
    | {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_HOME", "TORCH_EXTENSIONS_DIR"}
)


def rank_of(environment: "Mapping[str, str]") -> "tuple[int, int] | None":
    """The rank, and how sure it is: of the processes of a job, those with the least number are the ranks."""
    for unsure, name in enumerate(_RANKS, 1):
        value = environment.get(name, "")
        if value.isdecimal():
            return int(value), 0 if name == "RANK" and _TORCHRUN in environment else unsure
    return None


def attempt_of(environment: "Mapping[str, str]") -> "list[int]":
    """How often the job was started again, by the scheduler and by torchrun; lists compare as attempts do."""
    counts = [environment.get(name, "") for name in _RESTARTS]
    return [int(count) if count.isdecimal() else 0 for count in counts]


def job_of(environment: "Mapping[str, str]") -> "str | None":
    """The job's name, the same in all of its processes on all hosts; None where no launcher gives one."""
    of_torchrun = environment.get(_TORCHRUN, "")
    names = [_of_scheduler(environment), "" if of_torchrun == _OF_NO_JOB else of_torchrun]
    return "-".join(filter(None, names))[:_LONGEST] or None


def with_job(place: str, environment: "Mapping[str, str]", unnamed: str) -> str:
    """The place of a recording with its job's name in it, or `unnamed` where no launcher has given one."""
    if JOB_IN_PATH not in place:
        return place
    name = job_of(environment) or unnamed
    plain = "".join(each if each.isalnum() or each in "_.-" else "_" for each in name).lstrip(".")
    return place.replace(JOB_IN_PATH, plain or "_")


def _of_scheduler(environment: "Mapping[str, str]") -> str:
    if "SLURM_JOB_ID" in environment:
        array, task = environment.get("SLURM_ARRAY_JOB_ID"), environment.get("SLURM_ARRAY_TASK_ID")
        return f"{array}_{task}" if array and task else environment["SLURM_JOB_ID"]
    for name in _SCHEDULERS:
        if environment.get(name):
            return environment[name]
    return _of_pod(environment) if "KUBERNETES_SERVICE_HOST" in environment else ""


def _of_pod(environment: "Mapping[str, str]") -> str:
    """A pod is named for its job: `NAME-INDEX-xxxxx` of an indexed job, `NAME-worker-2` of the operator's."""
    pod = environment.get("HOSTNAME", "")
    index = environment.get("JOB_COMPLETION_INDEX", "")
    if index:
        name, found, _ = pod.rpartition(f"-{index}-")
        return name if found else pod.removesuffix(f"-{index}")
    name, _, number = pod.rpartition("-")
    for role in ("-master", "-worker", "-launcher", "-node"):
        if number.isdecimal() and name.endswith(role):
            return name.removesuffix(role)
    return ""
