"""Print all that a program can ask about how it was started."""

import builtins
import gc
import locale
import os
import resource
import signal
import sys
import threading
import warnings

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch  # noqa: F401

NAMES = set(globals())

print("arguments", sys.argv, sys.orig_argv)
print("this module", __name__, __file__, __spec__, __package__, type(__loader__).__name__)
print("its names", sorted(NAMES))
print("path", sys.path, sys.path_importer_cache.get(sys.path[0]) is not None)
print("flags", sys.flags, sys.warnoptions, sys._xoptions, sys.dont_write_bytecode)
print("installation", sys.executable, sys._base_executable, sys.prefix, sys.exec_prefix)
if "torch" not in sys.modules:  # which imports sympy for Dynamo, which adds its own
    print("warnings", [(action, kind.__name__) for action, _, kind, _, _ in warnings.filters])
print("ours", [name for name in ("click", "rich", "tabulate", "dynamo_cli") if name in sys.modules])
print("site", "sitecustomize" in sys.modules, "usercustomize" in sys.modules)
print("built in", len(dir(builtins)), builtins.open.__module__, __build_class__.__module__)
print("hooks", sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook)
print("path hooks", len(sys.path_hooks), sys.gettrace(), sys.getprofile())
print("limits", sys.getrecursionlimit(), gc.get_threshold(), sys.getswitchinterval())
print("threads", threading.active_count(), threading.current_thread().name)
print("folder", os.getcwd(), os.environ.get("PWD"), oct(os.umask(0)))
print("locale", locale.getlocale(), sys.getfilesystemencoding(), sys.stdout.encoding)
print("blocked", signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending())
print("handlers", [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())])
print("group", os.getpgrp() == os.getpgid(os.getppid()), os.getpriority(os.PRIO_PROCESS, 0))
for name in ("RLIMIT_CORE", "RLIMIT_NOFILE", "RLIMIT_STACK", "RLIMIT_CPU"):
    print("limit", name, resource.getrlimit(getattr(resource, name)))
print("lowest free descriptor", os.open(os.devnull, os.O_RDONLY))
