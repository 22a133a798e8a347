"""An environment variable is what it was in the first call, while another thread of the program waits.

After pytorch/pytorch#189027.
kind: value
stage: guards
"""

import os
import threading

import torch

end = threading.Event()
threading.Thread(target=end.wait, daemon=True).start()


@torch.compile(backend="eager")
def step(x):
    return x * float(os.getenv("SCALE"))  # cause


for scale in ("2", "3"):
    os.environ["SCALE"] = scale
    print(step(torch.ones(2)))
end.set()
