"""Several models are called as one, with their parameters stacked, and differentiated."""

import torch
from torch.func import functional_call, grad, stack_module_state, vmap

torch.manual_seed(0)
models = [torch.nn.Linear(3, 1) for _ in range(4)]
parameters, buffers = stack_module_state(models)


def loss_of(parameters, buffers, x):
    return functional_call(models[0], (parameters, buffers), (x,)).pow(2).mean()


@torch.compile(backend="aot_eager")
def step(parameters, buffers, x):
    gradients = vmap(grad(loss_of), in_dims=(0, 0, None))(parameters, buffers, x)
    return {name: value - 0.1 * gradients[name] for name, value in parameters.items()}


for _ in range(3):
    parameters = step(parameters, buffers, torch.ones(5, 3))
    print(f"{parameters['weight'].sum().item():.4f}")
