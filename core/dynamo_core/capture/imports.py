"""Import modules of ours while the program runs, without a change that its other threads could meet.

`StandardLibraryOnly` hides the program's modules for a moment, which is harmless only while it imports torch.
"""

import ast
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
from types import ModuleType
from typing import Any

from .hidden_modules import hide_again

# Python's own: this module is imported where only those can be seen. `import torch` has loaded all of them.
_STANDARD = (
    *(ast, collections, contextlib, copy, dataclasses, dis, functools, hashlib, importlib, inspect),
    *(itertools, json, linecache, logging, math, operator, os, re, sys, threading, traceback, types),
    *(typing, warnings),
)
_ABSENT = object()


def import_later(*names: str) -> list[ModuleType]:
    """Modules of ours that import nothing but one another, torch, and the standard ones above."""
    hide_again()
    modules: Any = sys.modules  # what stands in the place of one may be anything, also None
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
