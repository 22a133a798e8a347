"""The job, the attempt and the rank of a process, from the environment variables of its launcher.

Read at the start of every observed Python process, so this module imports nothing. Sources: torchrun
(torch/distributed/elastic/agent/server/local_elastic_agent.py, `_start_workers`, 2.13), srun(1), Open MPI's
mpirun, MPICH's hydra, Kubernetes' indexed jobs, and the training operator of Kubeflow.
"""

TYPE_CHECKING = False  # typing is not imported here
if TYPE_CHECKING:
    from collections.abc import Mapping

JOB_IN_PATH = "{job}"  # in the path of a recording: replaced by the job's name

# The most reliable first: a torchrun that srun has started is task 0 of srun, but no rank itself.
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX")
_TORCHRUN, _NO_JOB = "TORCHELASTIC_RUN_ID", "none"  # torchrun's value without --rdzv-id
_RESTARTS = ("SLURM_RESTART_COUNT", "TORCHELASTIC_RESTART_COUNT")  # the outer one first
_SCHEDULERS = ("RAY_JOB_ID", "LSB_JOBID", "PBS_JOBID", "FLUX_JOB_ID")
_LONGEST = 200  # characters

# Variables that differ between ranks: from the launcher, or for a rank's own devices and folders.
OF_A_RANK = frozenset(
    {"RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "NODE_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR"}
    | {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"}
    | {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_HOME", "TORCH_EXTENSIONS_DIR"}
)


def rank_of(environment: "Mapping[str, str]") -> "tuple[int, int] | None":
    """The rank, and how unsure it is: of a job's processes, those with the smallest number are the ranks."""
    for unsure, name in enumerate(_RANKS, 1):
        value = environment.get(name, "")
        if value.isdecimal():
            return int(value), 0 if name == "RANK" and _TORCHRUN in environment else unsure
    return None


def attempt_of(environment: "Mapping[str, str]") -> "list[int]":
    """How often the scheduler, and torchrun, restarted the job; such lists compare in order of time."""
    counts = [environment.get(name, "") for name in _RESTARTS]
    return [int(count) if count.isdecimal() else 0 for count in counts]


def job_of(environment: "Mapping[str, str]") -> "str | None":
    """The job's name, the same in all of its processes on all hosts; None where no launcher gives one."""
    torchrun_id = environment.get(_TORCHRUN, "")
    names = [_scheduler_job(environment), "" if torchrun_id == _NO_JOB else torchrun_id]
    return "-".join(filter(None, names))[:_LONGEST] or None


def with_job(place: str, environment: "Mapping[str, str]", unnamed: str) -> str:
    """The path with {job} replaced by the job's name, or by `unnamed` where no launcher gives one."""
    if JOB_IN_PATH not in place:
        return place
    name = job_of(environment) or unnamed
    plain = "".join(letter if letter.isalnum() or letter in "_.-" else "_" for letter in name).lstrip(".")
    return place.replace(JOB_IN_PATH, plain or "_")


def _scheduler_job(environment: "Mapping[str, str]") -> str:
    if "SLURM_JOB_ID" in environment:
        array, task = environment.get("SLURM_ARRAY_JOB_ID"), environment.get("SLURM_ARRAY_TASK_ID")
        return f"{array}_{task}" if array and task else environment["SLURM_JOB_ID"]
    for name in _SCHEDULERS:
        if environment.get(name):
            return environment[name]
    return _pod_job(environment) if "KUBERNETES_SERVICE_HOST" in environment else ""


def _pod_job(environment: "Mapping[str, str]") -> str:
    """The job in a pod's name: `NAME-INDEX-xxxxx` for an indexed job, `NAME-worker-2` for the operator's."""
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
