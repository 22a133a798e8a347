"""`dynamo explain`."""

from dynamo_reporters.report import Report

from .report_command import report_command


@report_command("explain")
def explain_command() -> Report:
    """Say what happened in a recording: what was captured, what it cost, what to fix first.

    TARGET_HELP

    \b
    Examples:
      dynamo explain
      dynamo explain .dynamo/train-20260101-120000 --format json
      dynamo explain train.py --epochs 1
    """
    from dynamo_reporters.explain.report import report

    return report()
