"""The error of `--on-recompile error`; apart, so that what must let it pass need not load `freeze.py`."""


class NotCompiled(RuntimeError):
    """Raised into the program by --on-recompile error."""
