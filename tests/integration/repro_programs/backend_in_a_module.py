"""A backend in a module beside the script returns a changed output.

origin: graph
kind: wrong result
"""

import torch
from backend_beside import rounding

compiled = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh()), backend=rounding)
compiled(torch.randn(3, 4))
