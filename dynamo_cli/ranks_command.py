"""`dynamo ranks`."""

from dynamo_reporters.report import Report

from .report_command import report_command


@report_command("ranks")
def ranks_command() -> Report:
    """Compare the ranks of a distributed run: who differs first, at which line, and who waits for whom.

    It works while the job runs, while it hangs, and after it was killed.

    TARGET_HELP

    \b
    Examples:
      dynamo ranks
      dynamo ranks s3://bucket/runs/1234
      dynamo run -- torchrun --nproc-per-node 2 train.py
    """
    from dynamo_reporters.ranks.report import report

    return report()
