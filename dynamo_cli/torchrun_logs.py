"""`torchrun --logs-specs dynamo`: the workers are recorded, with the options that DYNAMO_… variables give.

Source: torch/distributed/run.py (_get_logs_specs_class), torch/distributed/elastic/multiprocessing/api.py
(DefaultLogsSpecs.reify, which puts variables into the workers' environments itself); read and run with 2.13.
"""

import os
import sys
import time
from typing import Any, NoReturn

import click
from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, LogsDest

from dynamo_core.launch.run import environment_for
from dynamo_core.shared.errors import EXIT_USAGE, DynamoError
from dynamo_core.shared.launchers import with_job
from dynamo_core.shared.names import RECORDING_VARIABLE
from dynamo_core.shared.settings import Settings

from .run_command import env_command, settings_from


class RecordedLogs(DefaultLogsSpecs):
    """torchrun's own logs, and a recording of each worker; to where torchrun itself is recorded, if it is."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._settings = None if RECORDING_VARIABLE in os.environ else _settings()
        self._unnamed = f"{os.uname().nodename}-{os.getpid()}-{int(time.time())}"

    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """Called at each start of the workers, with the environment that each gets besides torchrun's own."""
        if self._settings is not None:
            for environment in envs.values():
                place = with_job(self._settings.recording, os.environ | environment, self._unnamed)
                given = environment_for(self._settings._replace(recording=place), os.environ)
                environment |= {name: given[name] for name in given.keys() - os.environ.keys()}
                environment["PYTHONPATH"] = given["PYTHONPATH"]
        return super().reify(envs)


def _settings() -> Settings:
    """The settings of `dynamo env` without options; what is wrong ends torchrun with one line."""
    try:
        parent = click.Context(click.Group("dynamo"), info_name="dynamo", auto_envvar_prefix="DYNAMO")
        options = env_command.make_context("env", [], parent=parent).params
        del options["form"], options["installed_at"]
        return settings_from(is_here=True, **options)
    except click.ClickException as error:
        _end(error.format_message(), EXIT_USAGE)
    except DynamoError as error:
        _end(str(error), error.exit_code)


def _end(message: str, code: int) -> NoReturn:
    print(f"dynamo: {message}", file=sys.stderr)
    sys.exit(code)
