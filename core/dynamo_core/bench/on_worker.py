"""What Ray runs on a worker. It is sent there as it is, so that it can say that this tool is not there.

Nothing of ours may be imported here, but where it runs.
"""

from typing import Any


def work(version: str, function: str, arguments: bytes) -> tuple[bool, Any]:
    """Call a function of ours, `module:name`; or False, and why this worker cannot."""
    import importlib
    import pickle
    import platform

    host = platform.node()
    try:
        import dynamo_core
    except ImportError as error:
        return (
            False,
            f"{host} has no dynamo-cli ({error}): install dynamo-cli {version} in the Python of its Ray",
        )
    if dynamo_core.__version__ != version:
        return False, f"{host} has dynamo-cli {dynamo_core.__version__}, and this is {version}"
    module, _, name = function.partition(":")
    return True, getattr(importlib.import_module(module), name)(*pickle.loads(arguments))
