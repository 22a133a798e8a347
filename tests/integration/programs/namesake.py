"""Import a module of which the program's folder has its own version, early or after torch."""

import importlib
import os
import sys

print(importlib.import_module(sys.argv[1]).__file__)
if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch

    print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2)))
    print(importlib.import_module(sys.argv[1]).__file__)
