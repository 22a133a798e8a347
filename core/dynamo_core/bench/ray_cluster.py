"""Run our functions as tasks of a Ray cluster; a task is repeated where its worker is lost.

Only Ray's public API is used: init, remote, wait, get, cancel, nodes, exceptions, and the scheduling strategy
of a node. Run with Ray 2.60.
"""

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import field
from importlib.util import find_spec
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

from .. import __version__
from ..shared.errors import ClusterProblem
from ..shared.quick_dataclass import dataclass
from . import on_worker

_ATTEMPTS = 3
_LOOK_EVERY, _UNTIL_IT_ENDS = 0.5, 10.0  # seconds
_NOT_SENT = (".dynamo", ".git", ".venv", "__pycache__")


@dataclass(frozen=True)
class Needs:
    """The resources that a task has exclusively; without `cpus`, a whole machine, to measure undisturbed."""

    cpus: float | None = None
    gpus: float = 0.0

    def are_met_by(self, machine: "Machine") -> bool:
        """Whether an idle machine has these resources."""
        return machine.cpus >= (self.cpus or 1) and machine.gpus >= self.gpus

    def __str__(self) -> str:
        cpus = self.cpus or 1
        gpus = f" and {self.gpus:g} GPU{'' if self.gpus == 1 else 's'}" if self.gpus else ""
        return f"{cpus:g} CPU{'' if cpus == 1 else 's'}{gpus}"


@dataclass(frozen=True)
class Task:
    """A function of one of our modules, and its arguments; everything can be pickled."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    needs: Needs = field(default_factory=Needs)


@dataclass(frozen=True)
class Lost:
    """The result of a task whose worker was lost in each attempt; `how` is Ray's message."""

    how: str


class Machine(NamedTuple):
    """A machine of the cluster, and its total resources."""

    id: str
    cpus: float
    gpus: float


class _Running(NamedTuple):
    """A running task: its attempt (from 1), and the machine that is reserved for it, if any."""

    task: Task
    attempt: int
    machine: str | None


def address_of(on: str) -> str | None:
    """The address in `--on`; None for RAY_ADDRESS or a local cluster. ValueError where it is not one."""
    if on == "ray":
        return None
    if on.startswith("ray://"):
        return on
    kind, _, address = on.partition(":")
    if kind != "ray" or not address:
        raise ValueError(f"{on!r} is neither ray nor ray:ADDRESS")
    return address


def check_installed() -> None:
    """Raise ClusterProblem where Ray is not installed."""
    if find_spec("ray") is None:
        raise ClusterProblem("--on ray needs Ray: pip install 'dynamo-cli[ray]'")


class RayCluster:
    """A context manager that connects to a cluster, or starts a local one.

    `folder` is sent to each worker, without the entries `not_sent`, and tasks run in it. ClusterProblem where
    Ray is not installed, or there is no cluster at the address.
    """

    def __init__(self, address: str | None, folder: Path | None, not_sent: Sequence[str] = ()) -> None:
        self._address = address
        self._folder = folder
        self._not_sent = [*_NOT_SENT, *not_sent]
        self._open = ExitStack()

    def __enter__(self) -> "RayCluster":
        check_installed()
        import ray

        self._ray = ray
        os.environ.setdefault(
            "RAY_USAGE_STATS_ENABLED", "0"
        )  # send no usage statistics unless the user enabled them
        environment: dict[str, Any] = {}
        if self._folder is not None:
            environment = {"working_dir": str(self._folder.resolve()), "excludes": self._not_sent}
        # Ray prints messages on its workers to stdout, which is for the report.
        nowhere = self._open.enter_context(open(os.devnull, "w", encoding="utf-8"))
        self._open.enter_context(redirect_stdout(nowhere))
        on_sigterm = signal.getsignal(signal.SIGTERM)  # Ray replaces it
        try:
            ray.init(
                address=self._address,
                runtime_env=environment,
                log_to_driver=False,
                logging_level="ERROR",
            )
        except Exception as error:  # each layer of Ray has its own errors
            self._open.close()
            where = "a Ray cluster" if self._address is None else f"the Ray cluster at {self._address}"
            raise ClusterProblem(f"{where} cannot be used: {_first_line(error)}") from error
        finally:
            signal.signal(signal.SIGTERM, on_sigterm)
        ray.cloudpickle.register_pickle_by_value(on_worker)
        self._work = ray.remote(max_retries=0, max_calls=1)(on_worker.work)
        return self

    def __exit__(self, *exception: object) -> None:
        self._ray.shutdown()
        self._open.close()

    def check(self, name: str, needs: Needs) -> None:
        """Raise ClusterProblem where no machine has what the task `name` needs."""
        if not any(needs.are_met_by(machine) for machine in self._machines()):
            raise ClusterProblem(f"{name} needs {needs}, which no machine of the Ray cluster has")

    def run(self, tasks: Sequence[Task], tell: Callable[[str], None]) -> Iterator[tuple[Task, Any]]:
        """Run tasks; each is given with its function's result, or Lost, in the order in which they end.

        `tell` gets a message where a worker is lost. An exception of a function is raised here;
        ClusterProblem where no machine has what a task needs, or a worker has no dynamo-cli of this version.
        """
        for task in tasks:
            self.check(task.name, task.needs)
        waiting = [(task, 1) for task in tasks]
        running: dict[Any, _Running] = {}
        try:
            while waiting or running:
                waiting = [each for each in waiting if not self._start(*each, running)]
                if not running:  # machines have left the cluster
                    self.check(waiting[0][0].name, waiting[0][0].needs)
                    sleep(_LOOK_EVERY)
                    continue
                ended, _ = self._ray.wait(list(running), timeout=_LOOK_EVERY)
                for reference in ended:
                    task, attempt, _ = running.pop(reference)
                    answer = self._answer(reference)
                    if isinstance(answer, Lost) and attempt < _ATTEMPTS:
                        tell(f"{task.name}: its worker was lost, so it is run again ({answer.how})")
                        waiting.append((task, attempt + 1))
                    else:
                        yield task, answer
        finally:
            self._cancel(list(running))

    def _start(self, task: Task, attempt: int, running: dict[Any, _Running]) -> bool:
        """Submit a task to the cluster; False while no machine is free for it alone."""
        needs, machine = task.needs, None
        cpus, where = needs.cpus, {}
        if cpus is None:
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            taken = {each.machine for each in running.values()}
            free = [each for each in self._machines() if each.id not in taken and needs.are_met_by(each)]
            if not free:
                return False
            machine, cpus = free[0].id, free[0].cpus
            where = {"scheduling_strategy": NodeAffinitySchedulingStrategy(machine, soft=False)}
        function = f"{task.function.__module__}:{task.function.__qualname__}"
        work = self._work.options(num_cpus=cpus, num_gpus=needs.gpus, name=f"dynamo: {task.name}", **where)
        reference = work.remote(__version__, function, pickle.dumps(task.arguments))
        running[reference] = _Running(task, attempt, machine)
        return True

    def _answer(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            could_run, answer = self._ray.get(reference)
        except errors.RayTaskError as error:
            raise error.cause from error
        except errors.RuntimeEnvSetupError as error:
            raise ClusterProblem(f"the folder cannot be used on a worker: {_first_line(error)}") from error
        except errors.RayError as error:
            return Lost(_first_line(error))
        if not could_run:
            raise ClusterProblem(answer)
        return answer

    def _cancel(self, references: list[Any]) -> None:
        """Interrupt running tasks, so that they end what they started; kill those that do not stop."""
        if not references:
            return
        for reference in references:
            self._ray.cancel(reference)
        _, left = self._ray.wait(references, num_returns=len(references), timeout=_UNTIL_IT_ENDS)
        for reference in left:
            self._ray.cancel(reference, force=True)

    def _machines(self) -> list[Machine]:
        """The machines that are alive and have CPUs for tasks."""
        found = [
            Machine(node["NodeID"], node["Resources"].get("CPU", 0.0), node["Resources"].get("GPU", 0.0))
            for node in self._ray.nodes()
            if node["Alive"]
        ]
        return [machine for machine in found if machine.cpus >= 1]


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
