"""`python -m dynamo_cli` is `dynamo`."""

import os
import sys


def _forget_working_directory() -> None:
    """`-m` puts it first on the path, where the user may have a `click.py` or a `json.py`."""
    try:
        here = os.getcwd()
    except OSError:  # it has been removed
        return
    if sys.path and sys.path[0] == here and not getattr(sys.flags, "safe_path", False):
        del sys.path[0]


_forget_working_directory()

from dynamo_cli.main import main  # noqa: E402

if __name__ == "__main__":
    main()
