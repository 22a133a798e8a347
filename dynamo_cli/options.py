"""The options of `dynamo run`, which every command shares that can run a program first."""

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dynamo_core.launch.program import Program
from dynamo_core.recording.remote import is_url
from dynamo_core.shared.backend_choice import Option, option_value
from dynamo_core.shared.choices import parse_config, parse_freeze_after
from dynamo_core.shared.errors import CannotRecord
from dynamo_core.shared.overrides import merged, parse_override
from dynamo_core.shared.settings import (
    CAPTURE_BUDGET,
    CAPTURE_POLICIES,
    DEFAULT_BACKEND,
    FULLGRAPH_FIRST,
    FULLGRAPH_KEEP_GOING,
    LOOP_LIMIT,
    ON_RECOMPILE_EAGER,
    ON_RECOMPILE_ERROR,
    OP_LIMIT,
    SEMANTICS_COMPILED,
    SEMANTICS_EAGER,
    TRACE_LIMIT,
    TRY_BUDGET,
    VERIFY_AUDITS,
    VERIFY_REPORT,
    Settings,
)

from .durations import seconds

if TYPE_CHECKING:
    from dynamo_core.launch.run import Request


class OptionWithOptionalValue(click.Option):
    """`--option` alone means `--option=BARE`; another value stands behind `=`, never in the next argument.

    click's own kind of it takes the argument that follows, which here may be the program.
    """

    def __init__(self, *args: Any, bare: str, **named: Any) -> None:
        super().__init__(*args, **named)
        self.bare = bare

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option with `=`, as its value is given: `--verify[=report|error]`."""
        record = super().get_help_record(ctx)
        return None if record is None else (record[0].replace(" [", "[=", 1), record[1])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Its values, and files: what follows it after a space is the program."""
        from .completion import file_item

        return [file_item(incomplete), *super().shell_complete(ctx, incomplete)]


VERIFY_OFF = "off"  # as when it is not given

Command = TypeVar("Command", bound=Callable[..., Any])


def documented_option(*names: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that can be given by an environment variable too, which its help names."""
    return click.option(*names, show_envvar=True, **settings)


def shared_option(*names: str, **settings: Any) -> Callable[[Command], Command]:
    """An option whose variable is DYNAMO_<OPTION>, whichever command has it."""
    option = next(name for name in names if name.startswith("--")).partition("/")[0]
    variable = f"DYNAMO_{option.strip('-').replace('-', '_').upper()}"
    return documented_option(*names, envvar=variable, **settings)


def completed_by(name: str) -> Callable[[click.Context, click.Parameter, str], Any]:
    """A callback of `completion.py`, which is imported when a shell asks."""

    def complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Any:
        from . import completion

        return getattr(completion, name)(ctx, parameter, incomplete)

    return complete


# Options that several commands have, each declared once.


def share(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A percentage, with its sign or without, as a share; a usage error for what is none up to 100."""
    if value is None:
        return None
    try:
        share = float(value.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise click.BadParameter(f"{value!r} is no percentage above 0 and up to 100, such as 20%")
    return share


def none_for_zero(ctx: click.Context, parameter: click.Parameter, value: float) -> float | None:
    """The number; None for 0, which switches a limit off."""
    return value or None


def python_option_of(whose: str) -> Callable[[Command], Command]:
    """`--python`, by what that Python is for."""
    return shared_option(
        "--python",
        metavar="PATH",
        shell_complete=completed_by("files_too"),
        help=f"The Python {whose}.  [default: this one if it has torch, else PATH's]",
    )


def all_option(text: str) -> Callable[[Command], Command]:
    """`--all`, given to the command as `show_all`."""
    return documented_option("--all", "show_all", is_flag=True, help=text)


def time_limit_option(
    text: str, default: float | None, least: float = 0, envvar: str | None = None
) -> Callable[[Command], Command]:
    """`--time-limit` in seconds, above 0 or from `least`."""
    return documented_option(
        "--time-limit",
        type=click.FloatRange(min=least, min_open=not least),
        default=default,
        envvar=envvar,
        metavar="SECONDS",
        help=text,
    )


def file_option(*names: str, text: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that names a file."""
    kind = click.Path(dir_okay=False, path_type=Path)
    return documented_option(*names, type=kind, metavar="FILE", help=text, **settings)


def written_file_option(*names: str, text: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that names a file to write, which is refused before anything runs if it cannot be written."""
    return file_option(*names, text=text, callback=_refuse_without_folder, **settings)


def _refuse_without_folder(ctx: click.Context, parameter: click.Parameter, file: Path | None) -> Path | None:
    if file is not None and not file.exists() and not os.access(file.parent, os.W_OK | os.X_OK):
        reason = errno.EACCES if file.parent.exists() else errno.ENOENT
        raise CannotRecord(f"cannot write {file}: {os.strerror(reason)}")
    return file


def capture_option(policies: Sequence[str], text: str) -> Callable[[Command], Command]:
    """`--capture`, with these policies."""
    return shared_option("--capture", type=click.Choice(policies), default="auto", help=text)


autotune_file_option = file_option(
    "--autotune-file",
    envvar="DYNAMO_AUTOTUNE_FILE",
    text="Where `dynamo autotune` stores the winners, and the backend `autotuned` finds them.  "
    "[default: .dynamo/autotuned.json]",
)
python_option = python_option_of("that runs the program")
frame_option = documented_option(
    "--frame",
    metavar="NAME",
    shell_complete=completed_by("frames"),
    help="Only frames of this name; * and ? match.",
)
compile_id_option = documented_option(
    "--compile-id",
    metavar="0/1",
    shell_complete=completed_by("compile_ids"),
    help="Only this compile, or every compile of frame 0.",
)
rank_option = documented_option(
    "--rank",
    type=int,
    metavar="N",
    help="Only rank N of a distributed run.",
)
step_option = documented_option(
    "--step",
    metavar="NAME",
    help="The function that is called once a step, if not the one found; * and ? match.",
)
force_option = shared_option("-f", "--force", is_flag=True, help="Replace an earlier recording at DIR.")
config_option = shared_option(
    "--config",
    multiple=True,
    metavar="NAME=VALUE",
    help="Give a setting of torch's another value, as in "
    "torch._dynamo.config.capture_scalar_outputs=True; NAME+=FUNCTION adds one to a list of "
    "functions. What the program itself sets comes later. Repeat for more.",
)
dynamic_option = shared_option(
    "--dynamic/--no-dynamic",
    default=None,
    help="As torch.compile's dynamic.  [default: torch decides]",
)


def recording_option(*names: str) -> Callable[[Command], Command]:
    """Where a run is recorded to, by what that is called."""
    return documented_option(
        *names,
        "output",
        type=click.Path(path_type=Path),
        envvar="DYNAMO_RECORDING",
        metavar="DIR",
        help="Record to DIR.  [default: .dynamo/<program>-<date>-<time>]",
    )


# What whole-program capture may cost. 0 switches a limit off.
_limits = [
    shared_option(
        "--trace-limit",
        type=click.FloatRange(min=0),
        default=TRACE_LIMIT,
        metavar="SECONDS",
        callback=none_for_zero,
        help="A captured frame whose tracing takes more CPU time runs eager.",
    ),
    shared_option(
        "--op-limit",
        type=click.IntRange(min=0),
        default=OP_LIMIT,
        metavar="N",
        callback=none_for_zero,
        help="A captured frame whose graph gets more ops runs eager.",
    ),
    shared_option(
        "--loop-limit",
        type=click.IntRange(min=0),
        default=LOOP_LIMIT,
        metavar="N",
        callback=none_for_zero,
        help="A captured frame with a loop that does the same again more often, over time steps say, runs "
        "eager, and what the loop calls may be compiled by itself. A loop over layers is not limited.",
    ),
    shared_option(
        "--compile-limit",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="A captured frame whose graph is longer in the backend runs eager. It is ended where Python "
        "code runs or waits, in the main thread; a backward that is compiled when it is first called is not "
        "limited.  [default: no limit]",
    ),
    shared_option(
        "--capture-budget",
        type=click.FloatRange(min=0),
        default=CAPTURE_BUDGET,
        metavar="SECONDS",
        callback=none_for_zero,
        help="No further frame is captured while compiling has taken more CPU time than this and the "
        "program's own.",
    ),
]


def run_options(*output_names: str, without: frozenset[str] = frozenset()) -> Callable[[Command], Command]:
    """Add the options but those `without`; `output_names` are those of the recording's folder."""
    options = [
        recording_option(*output_names),
        force_option,
        python_option,
        capture_option(
            CAPTURE_POLICIES,
            "What to compile in a program that does not call torch.compile itself: its modules' forward "
            "and its own functions (auto), one of the two, every frame (all), or nothing (none). A program "
            "that does call it is only observed.",
        ),
        shared_option(
            "--backend",
            default=DEFAULT_BACKEND,
            metavar="NAME[,NAME…]",
            shell_complete=completed_by("chain"),
            help="The backend for what is captured: a name that `dynamo backends` lists, inductor:MODE, "
            "module:function or file.py:function. Of several, each graph goes to the first that takes it.",
        ),
        shared_option(
            "--semantics",
            type=click.Choice((SEMANTICS_EAGER, SEMANTICS_COMPILED)),
            default=SEMANTICS_EAGER,
            help="Where torch.compile's semantics differ from eager's (gradients of unused outputs, a second "
            "or a double backward, types of exceptions), a program that dynamo captures gets eager's, or "
            "(compiled) what torch.compile gives.",
        ),
        shared_option(
            "--strict",
            is_flag=True,
            help="A graph that no backend takes is an error in the program, instead of running eager.",
        ),
        shared_option("--mode", shell_complete=completed_by("modes"), help="As torch.compile's mode."),
        dynamic_option,
        shared_option(
            "--fullgraph",
            cls=OptionWithOptionalValue,
            bare=FULLGRAPH_FIRST,
            type=click.Choice((FULLGRAPH_FIRST, FULLGRAPH_KEEP_GOING)),
            help="An audit for graph breaks, the exit code says whether there were any: the first one is an "
            "error in the program, or (--fullgraph=keep-going) the program goes on and all are listed.",
        ),
        shared_option(
            "--override",
            multiple=True,
            metavar="KEY=VALUE,…",
            help="Replace arguments of the program's own torch.compile: backend (which takes the call's mode "
            "and options off it), mode, option.KEY, dynamic, fullgraph, disable, isolate_recompiles. With "
            "frame=0/1 the backend of one compile id, in any program; repeat for more.",
        ),
        config_option,
        shared_option(
            "--verify",
            cls=OptionWithOptionalValue,
            bare=VERIFY_REPORT,
            type=click.Choice((VERIFY_REPORT, *VERIFY_AUDITS, VERIFY_OFF)),
            callback=lambda ctx, parameter, value: None if value == VERIFY_OFF else value,
            help="Make calls of what the program compiles in plain Python as well, in a copy of the process, "
            "and each graph's first calls in eager; name what disagrees, from which line and stage of the "
            "compiler on. With --verify=error, the exit code says so; with --verify=bitwise, also where "
            "Inductor leaves out casts that the program writes.",
        ),
        shared_option(
            "--verify-budget",
            callback=share,
            metavar="PERCENT",
            help="No further call, of the program or of a graph, is compared while --verify has taken more "
            "than this share of the time; the first one may.  [default: 60 s, and then 20%]",
        ),
        shared_option(
            "--try",
            "try_changes",
            is_flag=True,
            help="Where a frame has a graph break or is recompiled, trace it again in a copy of the process, "
            "with settings of torch's and dynamic sizes that might help: `dynamo explain` says what came.",
        ),
        shared_option(
            "--try-budget",
            callback=seconds,
            default=f"{TRY_BUDGET:g}s",
            metavar="TIME",
            help="What --try may take in a process, such as 90s or 2m.  [default: 60s]",
        ),
        shared_option(
            "--freeze-after",
            metavar="N|Ns|FUNCTION=N",
            help="Compile nothing more after N calls of compiled graphs, N seconds without a compile, or "
            "after the N-th call of a compiled function (Net.forward, or forward if that is the only one); "
            "what would have been compiled is listed.",
        ),
        shared_option(
            "--on-recompile",
            type=click.Choice((ON_RECOMPILE_EAGER, ON_RECOMPILE_ERROR)),
            default=ON_RECOMPILE_EAGER,
            help="What becomes of a frame that would be compiled after --freeze-after.",
        ),
        autotune_file_option,
        shared_option(
            "--option",
            "options",
            multiple=True,
            metavar="[NAME:]KEY=VALUE",
            help="One of torch.compile's options, in a chain with the backend it is for; repeat for more.",
        ),
        shared_option(
            "--profile",
            is_flag=True,
            help="Run torch.profiler around a window of steady steps, in which nothing is compiled.",
        ),
        shared_option(
            "--profile-steps",
            type=click.IntRange(min=1, max=10_000),
            default=10,
            metavar="N",
            help="How many steps --profile measures.",
        ),
        *_limits,
    ]

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        if without:
            parameters: list[click.Parameter] = getattr(command, "__click_params__", [])
            parameters[:] = [each for each in parameters if each.name not in without]
        return command

    return add


def _names(add: Callable[[Callable[..., Any]], Callable[..., Any]]) -> frozenset[str]:
    def bare() -> None:
        """A function to add options to."""

    parameters: list[click.Parameter] = getattr(add(bare), "__click_params__", [])
    return frozenset(parameter.name for parameter in parameters if parameter.name is not None)


RUN_OPTIONS = _names(run_options("--recording"))  # as Python has their names


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
    options: tuple[str, ...],
    profile: bool,
    profile_steps: int,
    autotune_file: Path | None,
    stdout_to_stderr: bool = False,
    **as_given: Any,
) -> "Request":
    """What these options ask the launcher for; those `as_given` are settings of the same name."""
    if output is not None and is_url(str(output).replace(":/", "://", 1)):  # as it was before it was a path
        raise click.UsageError("a program records to a URL with the variables of `dynamo env -o URL`")
    settings = Settings(
        recording="",
        capture=capture,
        backend=backend,
        mode=mode,
        dynamic=dynamic,
        options=dict(_key_and_value(option) for option in options),
        profile=profile,
        profile_steps=profile_steps,
        autotune_file=None if autotune_file is None else str(autotune_file.absolute()),
        **as_given,
    )
    try:
        settings.choices()
    except ValueError as error:
        raise click.UsageError(f"--backend: {error}") from error
    try:
        merged(map(parse_override, settings.override))
    except ValueError as error:
        raise click.UsageError(f"--override: {error}") from error
    settings = settings._replace(config=checked_config(settings.config))
    if settings.freeze_after is not None:
        _check_freeze_after(settings.freeze_after, program)
    if settings.freeze_after is None and settings.on_recompile == ON_RECOMPILE_ERROR:
        raise click.UsageError(
            "--on-recompile error says what becomes of a frame after --freeze-after: give that too"
        )
    from dynamo_core.launch.run import Request  # which a report that runs nothing does not pay for

    return Request(
        program=program,
        settings=settings,
        output=output,
        replace=force,
        python=python,
        stdout_to_stderr=stdout_to_stderr,
    )


def _check_freeze_after(text: str, program: Program) -> None:
    """UsageError where it cannot be read, or surely names no function of the program."""
    from dynamo_core.launch.named_functions import meant_instead_of

    try:
        function = parse_freeze_after(text).function
    except ValueError as error:
        raise click.UsageError(f"--freeze-after: {error}") from error
    meant = None if function is None else meant_instead_of(function, program)
    if meant is not None:
        raise click.UsageError(
            f"--freeze-after: the program has no function {function!r}; did you mean {meant!r}?"
        )


def checked_config(config: tuple[str, ...]) -> tuple[str, ...]:
    """What --config was given, as it is handed down; UsageError."""
    try:
        return tuple(str(parse_config(text)) for text in config)
    except ValueError as error:
        raise click.UsageError(f"--config: {error}") from error


def _key_and_value(option: str) -> tuple[str, Option]:
    key, equals, text = option.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{option!r} is not KEY=VALUE", param_hint="--option")
    return key, option_value(text)
