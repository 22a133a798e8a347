"""`dynamo backends`."""

import sys
from dataclasses import replace

import click

from .help_pages import CommandWithHelp
from .options import all_option, completed_by, documented_option, python_option_of, time_limit_option
from .report_output import Output, write_report, writes_report


@click.command("backends", cls=CommandWithHelp)
@click.argument("name", required=False, shell_complete=completed_by("backends"))
@all_option("Those for debugging, experimental or not installed too.")
@documented_option(
    "--check", is_flag=True, help="Compile and run a tiny graph with each, in a process of its own."
)
@time_limit_option("For each backend that --check tries.", 120.0, 1)
@python_option_of("whose backends they are")
@writes_report()
def backends_command(
    name: str | None,
    show_all: bool,
    check: bool,
    time_limit: float,
    python: str | None,
    out: Output,
) -> None:
    """List the backends, where each comes from and whether it can run here; or show the options of one.

    NAME is a backend's name, module:function or file.py:function, whose file is read and not run. The
    backends are torch's own, those of installed packages (entry points `torch_dynamo_backends`) and ours.

    \b
    Examples:
      dynamo backends                     what there is
      dynamo backends --check             what works, by trying it
      dynamo backends inductor --all      every mode and option, with defaults
    """
    from dynamo_core.launch.backend_list import details_of, registry_of, with_trials
    from dynamo_core.launch.program import check_python, default_python
    from dynamo_reporters.backends import details_report, listing_report

    with_torch = check_python(python) if python else default_python()
    if name is None:
        registry = registry_of(with_torch)
        if check:
            backends = tuple(each for each in registry.backends if show_all or not each.is_hidden)
            hidden = tuple(each for each in registry.backends if each not in backends)
            tried = with_trials(backends, with_torch, time_limit, _announce)
            registry = replace(registry, backends=(*tried, *hidden))
        write_report(listing_report(show_all), registry, out)
        return
    details = details_of(name, with_torch)
    if check and details.registered is not None:
        (tried_one,) = with_trials([details.registered], with_torch, time_limit, _announce)
        details = replace(details, registered=tried_one)
    write_report(details_report(show_all), details, out)


def _announce(done: int, count: int) -> None:
    """One line, replaced each time, where somebody sees it."""
    if sys.stderr.isatty():
        click.echo(f"\rtried {done} of {count}" + ("\n" if done == count else ""), err=True, nl=False)
