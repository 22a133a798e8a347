"""`dynamo run`."""

from typing import Any

import click

from dynamo_core.shared.launchers import JOB_IN_PATH
from dynamo_core.shared.settings import FULLGRAPH_KEEP_GOING, VERIFY_AUDITS, Settings

from .help_pages import CommandWithHelp
from .options import RUN_OPTIONS, documented_option, request_from, run_options
from .program import ProgramCommand, program_of, with_bare_values

_USUAL = {"output", "force", "capture", "backend", "fullgraph", "verify", "profile"}


@click.command("run", cls=ProgramCommand, further=RUN_OPTIONS - _USUAL)
@run_options("-o", "--output")
@documented_option("-q", "--quiet", is_flag=True, envvar="DYNAMO_QUIET", help="Print nothing at all.")
@click.pass_context
def run_command(ctx: click.Context, /, quiet: bool, **options: Any) -> None:
    """Run a program as it is, and record what torch.compile makes of it.

    The program may be a script, a notebook, a folder or a zip app, -m MODULE, -c CODE, - for stdin, or any
    command after --. What follows it is its own. It runs in its own Python; its output, exit code and signals
    are its own.

    DYNAMO_LOGS prints what the compiler does while the program runs, on stderr: DYNAMO_LOGS=help lists the
    topics.

    \b
    Examples:
      dynamo run train.py --epochs 1
      dynamo run --backend aot_eager -m package.module
      DYNAMO_LOGS=graphs,+breaks dynamo run script.py
      dynamo run -- torchrun --nproc-per-node=2 train.py
    """
    from dynamo_core.launch.process import end_like

    from .running import audited, run_program, summarize_run

    program = program_of(ctx)
    if program is None:
        raise click.UsageError("name the program to run: dynamo run SCRIPT [ARGS]...")
    outcome = run_program(request_from(program, **options), quiet=quiet)
    if not quiet:
        summarize_run(outcome, is_default_place=options["output"] is None)
    end_like(audited(outcome, options["fullgraph"], options["verify"], quiet=quiet))


FORMATS = ("shell", "json", "docker", "k8s", "slurm", "ray")
_USUAL_OF_ENV = {"capture", "backend", "profile"}
# There is no launcher that could empty a folder or choose a Python.
_OF_THE_LAUNCHER = frozenset({"force", "python", "output"})
_CHANGE_THE_EXIT_CODE = {"verify": VERIFY_AUDITS, "fullgraph": (FULLGRAPH_KEEP_GOING,)}


class EnvCommand(CommandWithHelp):
    """Takes the options of a run, with the defaults of the project as a run does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what pyproject.toml says first."""
        from .program import project_defaults

        ctx.default_map = project_defaults(self, ctx)
        return super().parse_args(ctx, with_bare_values(self, args))


@click.command("env", cls=EnvCommand, further=RUN_OPTIONS - _USUAL_OF_ENV)
@documented_option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="shell",
    help="For a shell to evaluate, as JSON, as a file for docker's --env-file, as a container's env in "
    "Kubernetes, for a SLURM batch script, or as Ray's runtime_env.",
)
@documented_option(
    "--installed-at",
    metavar="FOLDER",
    help="The folder of the package dynamo_core where the job runs.  [default: where it is here; docker run "
    "mounts it]",
)
@documented_option(
    "-o",
    "--output",
    envvar="DYNAMO_RECORDING",
    metavar="DIR",
    help="Record to DIR, which all hosts of the job see, or to a URL (s3://…, gs://…); {job} in it stands "
    "for the job's name.  [default: .dynamo/{job}]",
)
@run_options("--output", without=_OF_THE_LAUNCHER)
def env_command(form: str, output: str | None, installed_at: str | None, **options: Any) -> None:
    """Print the variables with which any Python process is recorded, without `dynamo run` in front.

    For jobs that a launcher starts, on any host: a process that has them records as under `dynamo run`, each
    to files of its own in DIR, which the first of them makes.

    \b
    Examples:
      eval "$(dynamo env -o recording)"; torchrun --nproc-per-node 2 train.py
      docker run --env-file <(dynamo env -o /shared/recording --format docker) IMAGE python train.py
      dynamo env -o '/shared/{job}' --format slurm >> job.sh
    """
    from dynamo_core.launch.exported import environment_text

    is_here = form in ("shell", "json") and installed_at is None
    text, notes = environment_text(settings_from(output, is_here=is_here, **options), form, installed_at)
    click.echo(text)
    for note in notes:
        click.echo(f"dynamo: {note}", err=True)


def settings_from(output: str | None, *, is_here: bool, **options: Any) -> Settings:
    """What these options ask of processes that no `dynamo run` starts; checked if they run `is_here`."""
    from dynamo_core.launch.exported import settings_for_processes
    from dynamo_core.launch.program import Program
    from dynamo_core.recording.files import default_folder

    for name, values in _CHANGE_THE_EXIT_CODE.items():
        if options[name] in values:
            raise click.UsageError(
                f"--{name}={options[name]} changes the exit code, which only `dynamo run` can do"
            )
    request = request_from(Program(("-",), is_python=True), output=None, force=False, python=None, **options)
    place = output or str(default_folder() / JOB_IN_PATH)
    return settings_for_processes(request, place, is_here=is_here)
