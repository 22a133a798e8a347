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

# Python's own: this module is imported where only those can be seen. `import torch` has loaded all of them.
_STANDARD = (
    *(ast, collections, contextlib, copy, dataclasses, dis, functools, hashlib, importlib, inspect),
    *(itertools, json, linecache, logging, math, operator, os, re, sys, threading, traceback, types),
    *(typing, warnings),
)


def import_later(*names: str) -> list[ModuleType]:
    """Modules of ours that import nothing but one another, torch, and the standard ones above."""
    if all(name in sys.modules for name in names):
        return [sys.modules[name] for name in names]
    present = {module.__name__: sys.modules.get(module.__name__) for module in _STANDARD}
    replaced = [module for module in _STANDARD if present[module.__name__] is not module]
    try:
        for module in replaced:
            sys.modules[module.__name__] = module
        return [importlib.import_module(name) for name in names]
    finally:
        for module in replaced:
            theirs = present[module.__name__]
            if theirs is None:
                del sys.modules[module.__name__]
            else:
                sys.modules[module.__name__] = theirs
