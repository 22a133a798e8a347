"""`dynamo profile`."""

from dynamo_core.case import Case
from dynamo_reporters.profile.exports.formats import to_chrome_trace, to_speedscope
from dynamo_reporters.report import Report

from .options import all_option, step_option
from .report_command import Export, report_command

_EXPORTS = {
    "chrome": Export(
        to_chrome_trace, "a timeline for ui.perfetto.dev and chrome://tracing", (".trace.json",)
    ),
    "speedscope": Export(to_speedscope, "one for speedscope.app", (".speedscope.json",)),
}


@report_command("profile", exports=_EXPORTS)
@all_option("Every phase, graph and operator, however small.")
@step_option
def profile_command(show_all: bool, step: str | None) -> Report[Case]:
    """Show where the time goes: start-up, compiling, compiled graphs, the rest.

    TARGET_HELP

    \b
    Examples:
      dynamo profile
      dynamo profile --all --compile-id 0/0
      dynamo profile -o train.trace.json       for ui.perfetto.dev, or chrome://tracing
      dynamo profile -o train.speedscope.json  for speedscope.app
      dynamo profile --profile train.py        run it first, with a window of torch.profiler
    """
    from dynamo_reporters.profile.report import report

    return report(show_all=show_all, step=step)
