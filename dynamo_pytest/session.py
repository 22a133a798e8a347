"""What --dynamo adds to a session: reads what is expected, and lets each test be looked at."""

from pathlib import Path

import pytest

from dynamo_core.lock.bounds import bounds_of_project
from dynamo_core.lock.facts import Facts
from dynamo_core.lock.lock_file import DEFAULT_FILE, read_lock
from dynamo_core.shared.errors import LockFileProblem

from .each_test import EachTest
from .lock_report import LockReport
from .recorder import Recorder


def look_at_tests(config: pytest.Config, recorder: Recorder) -> None:
    """Register what looks at each test and, but in a worker of xdist, what keeps the lock file."""
    options = config.option
    file = _lock_file(config)
    locked: dict[str, Facts] | None = None
    try:
        of_project = bounds_of_project(config.rootpath)
        if file is not None:
            if not file.exists() and not options.dynamo_update:
                raise pytest.UsageError(f"no such lock file: {file}; --dynamo-update writes it")
            locked = read_lock(file)
    except LockFileProblem as problem:
        raise pytest.UsageError(str(problem)) from problem
    each_test = EachTest(
        recorder,
        of_project,
        None if options.dynamo_update else locked,
        looks_at_all=file is not None,
        is_exact=options.dynamo_exact,
    )
    config.pluginmanager.register(each_test, "dynamo_each_test")
    if file is not None and locked is not None and not hasattr(config, "workerinput"):
        report = LockReport(file, locked, is_update=options.dynamo_update)
        config.pluginmanager.register(report, "dynamo_lock_report")


def _lock_file(config: pytest.Config) -> Path | None:
    if config.option.dynamo_lock:
        return config.invocation_params.dir / str(config.option.dynamo_lock)
    if config.option.dynamo_update or config.option.dynamo_exact:
        return config.rootpath / DEFAULT_FILE
    return None
