"""Call something as a user without rights: root, as which tests may run, is denied nothing."""

import os
import pickle
from collections.abc import Callable
from typing import TypeVar

_NOBODY = 65534
_Result = TypeVar("_Result")


def as_nobody(function: Callable[[], _Result]) -> _Result:
    """What `function` returns, called in a forked child that has no rights; as it is where we are not root.

    All that it imports is to be imported before: the child may not read the files of packages.
    """
    if os.geteuid() != 0:
        return function()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
            answer: object = function()
        except BaseException as error:
            answer = AssertionError(f"{type(error).__name__}: {error}")
        with open(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        result = pickle.load(pipe)
    os.waitpid(child, 0)
    if isinstance(result, AssertionError):
        raise result
    found: _Result = result
    return found
