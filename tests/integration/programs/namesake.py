"""Import modules of which the program's folder has its own versions, before and after torch."""

import importlib
import os
import sys

for name in sys.argv[1:]:
    print(importlib.import_module(name).__file__)
if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch

    print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2)))
    for name in sys.argv[1:]:
        print(importlib.import_module(name).__file__)
