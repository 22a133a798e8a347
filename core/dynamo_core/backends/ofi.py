"""The backend `ofi`: a graph traced by TorchScript and optimized for inference (frozen, fused, oneDNN).

One of the first backends of TorchDynamo. Source: torch/jit/_freeze.py (optimize_for_inference), 2.8 to 2.15.
"""

from collections.abc import Sequence
from typing import Any

from .declined import Declined
from .for_inference import decline_what_trains


def ofi(gm: Any, example_inputs: Sequence[Any]) -> Any:
    """Compile a graph for inference. Declines what training needs, and sizes that are not fixed."""
    import torch
    from torch._dynamo.backends.common import fake_tensor_unsupported

    if any(isinstance(value, torch.SymInt) for value in example_inputs):
        raise Declined("sizes are symbolic, and a TorchScript trace has fixed ones")
    decline_what_trains("ofi", example_inputs)

    def trace(gm: Any, inputs: Sequence[Any]) -> Any:
        module = torch.jit.optimize_for_inference(torch.jit.trace(gm, tuple(inputs)))
        return module.forward  # Dynamo cannot wrap a frozen module: it has no `training`

    return fake_tensor_unsupported(trace)(gm, example_inputs)  # Dynamo's inputs are fake, a trace needs real
