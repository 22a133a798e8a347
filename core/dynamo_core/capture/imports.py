"""Import our modules while the program runs, and wait for modules that a compiler backend imports.

Importing later than `import torch` must not change anything that the program's other threads could notice.
`StandardLibraryOnly` hides the program's modules for a moment, which is safe only while torch is imported.
"""

import ast
import builtins
import collections
import contextlib
import copy
import dataclasses
import dis
import functools
import hashlib
import importlib
import inspect
import itertools
import json
import linecache
import logging
import math
import operator
import os
import re
import sys
import threading
import traceback
import types
import typing
import warnings
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .hidden_modules import hide_again
from .import_hook import import_hook

# Python's own: only the standard library is visible while this module is imported. `import torch` has loaded
# all of them already.
_STANDARD = (
    *(ast, builtins, collections, contextlib, copy, dataclasses, dis, functools, hashlib, importlib, inspect),
    *(itertools, json, linecache, logging, math, operator, os, re, sys, threading, traceback, types),
    *(typing, warnings, weakref),
)
_ABSENT = object()


def import_later(*names: str) -> list[ModuleType]:
    """Import our modules of these names, which import only one another, torch, and the standard ones above.

    Where the program has replaced a standard module, Python's own is put back during the import.
    """
    hide_again()
    modules: Any = sys.modules  # a program may have put anything there, also None
    replaced = {
        module.__name__: modules.get(module.__name__, _ABSENT)
        for module in _STANDARD
        if modules.get(module.__name__) is not module
    }
    try:
        modules.update((module.__name__, module) for module in _STANDARD if module.__name__ in replaced)
        return [importlib.import_module(name) for name in names]
    finally:
        for name, theirs in replaced.items():
            if theirs is _ABSENT:
                modules.pop(name, None)
            else:
                modules[name] = theirs


class LateModules:
    """Installs probes on modules that a backend imports, once each, when the module is first seen.

    The import hook waits for them only while a backend may import them: a program may look at `sys.meta_path`
    later.
    """

    def __init__(self) -> None:
        self._installers: dict[str, list[Callable[[ModuleType], None]]] = {}

    def add(self, name: str, installer: Callable[[ModuleType], None]) -> None:
        """Add an installer for module `name`; the installers of one module are called in this order."""
        self._installers.setdefault(name, []).append(installer)

    def wait(self) -> None:
        """Install each probe when its module is imported, from now on until `stop`."""
        for name in list(self._installers):
            import_hook.when_imported(name, self._install)

    def stop(self) -> None:
        """Stop waiting, and leave nothing behind in `sys.meta_path`."""
        for name in self._installers:
            import_hook.stop_waiting_for(name)

    def _install(self, module: ModuleType) -> None:
        for install in self._installers.pop(module.__name__, ()):
            install(module)
