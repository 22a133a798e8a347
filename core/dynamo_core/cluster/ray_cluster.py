"""Functions of ours as tasks of a Ray cluster, each called again where its worker is lost.

Only Ray's public API is used: init, remote, wait, get, cancel, nodes, exceptions. Run with Ray 2.60.
"""

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import field
from pathlib import Path
from typing import Any

from .. import __version__
from ..shared.errors import ClusterProblem
from ..shared.quick_dataclass import dataclass
from . import on_worker

_ATTEMPTS = 3
_LOOK_EVERY = 0.5  # seconds
_NOT_SENT = [".dynamo", ".git", ".venv", "__pycache__"]
_HINT = "pip install 'dynamo-cli[ray]'"


@dataclass(frozen=True)
class Needs:
    """What a task has for itself. Without `cpus`, all those of the smallest machine, so that nothing else is
    measured beside it there.
    """

    cpus: float | None = None
    gpus: float = 0.0


@dataclass(frozen=True)
class Task:
    """A function of a module of ours, and what to call it with; all of it can be pickled."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    needs: Needs = field(default_factory=Needs)


@dataclass(frozen=True)
class Lost:
    """What came of a task whose worker was lost each time; `how` is Ray's word."""

    how: str


def address_of(on: str) -> str | None:
    """The address that `--on` names: None for RAY_ADDRESS or a local cluster; ValueError for what is none."""
    if on == "ray":
        return None
    if on.startswith("ray://"):
        return on
    kind, _, address = on.partition(":")
    if kind != "ray" or not address:
        raise ValueError(f"{on!r} is neither ray nor ray:ADDRESS")
    return address


class RayCluster:
    """A cluster that is connected to, or started here; a context manager.

    `folder` is sent to each worker, and is where tasks run. ClusterProblem where there is no Ray, or no
    cluster at the address.
    """

    def __init__(self, address: str | None, folder: Path | None) -> None:
        self._address = address
        self._folder = folder
        self._open = ExitStack()

    def __enter__(self) -> "RayCluster":
        try:
            import ray
        except ImportError as error:
            raise ClusterProblem(f"--on ray needs Ray: {_HINT} ({error})") from error
        self._ray = ray
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody unasked
        environment: dict[str, Any] = {}
        if self._folder is not None:
            environment = {"working_dir": str(self._folder.resolve()), "excludes": _NOT_SENT}
        # Ray prints what befalls its workers to stdout, which is the report's.
        nowhere = self._open.enter_context(open(os.devnull, "w", encoding="utf-8"))
        self._open.enter_context(redirect_stdout(nowhere))
        on_sigterm = signal.getsignal(signal.SIGTERM)  # Ray sets its own
        try:
            ray.init(
                address=self._address,
                runtime_env=environment,
                log_to_driver=False,
                logging_level="ERROR",
            )
        except Exception as error:  # each of its layers has errors of its own
            self._open.close()
            where = "" if self._address is None else f" at {self._address}"
            raise ClusterProblem(f"there is no Ray cluster{where}: {_in_a_line(error)}") from error
        finally:
            signal.signal(signal.SIGTERM, on_sigterm)
        ray.cloudpickle.register_pickle_by_value(on_worker)
        self._work = ray.remote(max_retries=0, max_calls=1)(on_worker.work)
        return self

    def __exit__(self, *exception: object) -> None:
        self._ray.shutdown()
        self._open.close()

    def run(self, tasks: Sequence[Task], tell: Callable[[str], None]) -> Iterator[tuple[Task, Any]]:
        """Each task with what its function returned, or Lost, in the order in which they end.

        `tell` gets a line where a worker is lost. What a function raises is raised here; ClusterProblem where
        no machine has what a task needs, or a worker has no dynamo-cli of this version.
        """
        ray = self._ray
        self._refuse_what_fits_nowhere(tasks)
        waiting = {self._begin(task): (task, 1) for task in tasks}
        try:
            while waiting:
                ended, _ = ray.wait(list(waiting), timeout=_LOOK_EVERY)
                for reference in ended:
                    task, attempt = waiting.pop(reference)
                    try:
                        fits, answer = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        raise error.cause from error
                    except ray.exceptions.RayError as error:
                        how = _in_a_line(error)
                        if attempt == _ATTEMPTS:
                            yield task, Lost(how)
                            continue
                        tell(f"{task.name}: its worker was lost, so it is run again ({how})")
                        waiting[self._begin(task)] = task, attempt + 1
                        continue
                    if not fits:
                        raise ClusterProblem(answer)
                    yield task, answer
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)

    def _begin(self, task: Task) -> Any:
        needs = task.needs
        cpus = self._cpus_of_the_smallest() if needs.cpus is None else needs.cpus
        function = f"{task.function.__module__}:{task.function.__qualname__}"
        options = self._work.options(num_cpus=cpus, num_gpus=needs.gpus, name=f"dynamo: {task.name}")
        return options.remote(__version__, function, pickle.dumps(task.arguments))

    def _machines(self) -> list[dict[str, float]]:
        """The resources of each machine that is alive."""
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def _cpus_of_the_smallest(self) -> float:
        return min((cpus for each in self._machines() if (cpus := each.get("CPU", 0)) >= 1), default=1)

    def _refuse_what_fits_nowhere(self, tasks: Sequence[Task]) -> None:
        machines = self._machines()
        for task in tasks:
            cpus, gpus = task.needs.cpus or 1, task.needs.gpus
            if not any(each.get("CPU", 0) >= cpus and each.get("GPU", 0) >= gpus for each in machines):
                wanted = f"{cpus:g} CPU{'' if cpus == 1 else 's'}"
                wanted += f" and {gpus:g} GPU{'' if gpus == 1 else 's'}" if gpus else ""
                raise ClusterProblem(f"{task.name} needs {wanted}, which no machine of the Ray cluster has")


def _in_a_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
