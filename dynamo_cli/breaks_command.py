"""`dynamo breaks`."""

from dynamo_reporters.report import Report

from .report_command import report_command


@report_command("breaks")
def breaks_command() -> Report:
    """Show each distinct graph break, worst first: where, why, how often it is crossed, what to do.

    TARGET_HELP

    \b
    Examples:
      dynamo breaks
      dynamo breaks --file model.py --format markdown
      dynamo breaks train.py --epochs 1                run it first
    """
    from dynamo_reporters.breaks.report import report

    return report()
