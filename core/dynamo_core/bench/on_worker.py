"""The function that Ray runs on a worker. Its code is sent there, so that it can report a missing dynamo-cli.

Therefore nothing of ours may be imported at the top of this module.
"""

from typing import Any


def work(version: str, function: str, arguments: bytes) -> tuple[bool, Any]:
    """True and the result of our function `module:name`; or False, and why this worker cannot call it."""
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
