"""The options of `dynamo run`, which every command shares that can run a program first."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from dynamo_core.launch.program import Program
from dynamo_core.launch.run import Request
from dynamo_core.settings import CAPTURE_POLICIES, Settings

Command = TypeVar("Command", bound=Callable[..., Any])

# Every option of ours can be given by an environment variable, which its help names.
documented_option = functools.partial(click.option, show_envvar=True)


def run_options(*output_names: str) -> Callable[[Command], Command]:
    """Add the options; `output_names` is what the option for the recording's folder is called."""
    options = [
        documented_option(
            *output_names,
            "output",
            type=click.Path(path_type=Path),
            envvar="DYNAMO_RECORDING",
            metavar="DIR",
            help="Record to DIR.  [default: .dynamo/<program>-<date>-<time>]",
        ),
        documented_option(
            "-f", "--force", is_flag=True, envvar="DYNAMO_FORCE", help="Replace an earlier recording at DIR."
        ),
        documented_option(
            "--python",
            envvar="DYNAMO_PYTHON",
            metavar="PATH",
            help="The Python that runs the program.  [default: this one if it has torch, else PATH's]",
        ),
        documented_option(
            "--capture",
            type=click.Choice(CAPTURE_POLICIES),
            default="auto",
            envvar="DYNAMO_CAPTURE",
            help="What to compile in a program that does not call torch.compile itself: its modules' forward "
            "and its own functions (auto), one of the two, every frame (all), or nothing (none). A program "
            "that does call it is only observed.",
        ),
        documented_option(
            "--backend",
            default="inductor",
            envvar="DYNAMO_BACKEND",
            metavar="NAME",
            help="The backend for what is captured: a registered name, module:function or file.py:function.",
        ),
        documented_option("--mode", envvar="DYNAMO_MODE", help="As torch.compile's mode."),
        documented_option(
            "--dynamic/--no-dynamic",
            default=None,
            envvar="DYNAMO_DYNAMIC",
            help="As torch.compile's dynamic.  [default: torch decides]",
        ),
        documented_option(
            "--fullgraph",
            is_flag=True,
            envvar="DYNAMO_FULLGRAPH",
            help="As torch.compile's fullgraph: the first graph break is an error in the program.",
        ),
        documented_option(
            "--option",
            "options",
            multiple=True,
            envvar="DYNAMO_OPTION",
            metavar="KEY=VALUE",
            help="One of torch.compile's options; repeat for more.",
        ),
        documented_option(
            "--profile",
            is_flag=True,
            envvar="DYNAMO_PROFILE",
            help="Run torch.profiler around a window of steady steps, in which nothing is compiled.",
        ),
        documented_option(
            "--profile-steps",
            type=click.IntRange(min=1, max=10_000),
            default=10,
            show_default=True,
            envvar="DYNAMO_PROFILE_STEPS",
            metavar="N",
            help="How many steps --profile measures.",
        ),
    ]

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def request_from(
    program: Program,
    *,
    output: Path | None,
    force: bool,
    python: str | None,
    capture: str,
    backend: str,
    mode: str | None,
    dynamic: bool | None,
    fullgraph: bool,
    options: tuple[str, ...],
    profile: bool,
    profile_steps: int,
    stdout_to_stderr: bool = False,
) -> Request:
    """What these options ask the launcher for."""
    settings = Settings(
        recording="",
        capture=capture,
        backend=backend,
        mode=mode,
        dynamic=dynamic,
        fullgraph=fullgraph,
        options=dict(_key_and_value(option) for option in options),
        profile=profile,
        profile_steps=profile_steps,
    )
    if mode is not None and options:
        raise click.UsageError("--mode and --option cannot be combined: torch.compile takes one of them")
    return Request(
        program=program,
        settings=settings,
        output=output,
        replace=force,
        python=python,
        stdout_to_stderr=stdout_to_stderr,
    )


def _key_and_value(option: str) -> tuple[str, str | int | float | bool]:
    key, equals, text = option.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{option!r} is not KEY=VALUE", param_hint="--option")
    if text.lower() in ("true", "false"):
        return key, text.lower() == "true"
    for kind in (int, float):
        try:
            return key, kind(text)
        except ValueError:
            continue
    return key, text
