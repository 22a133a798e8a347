"""A scheduler that looks up at which place a timestep stands.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS

Made after a pattern common in diffusers (index_for_timestep).
"""

import torch

timesteps = torch.arange(9, -1, -1)
sigmas = torch.linspace(1, 0, 10)


@torch.compile(backend="eager")
def step(sample, timestep):
    places = (timesteps == timestep).nonzero()  # cause
    return sample - sample * sigmas[places[0]]


sample = torch.ones(4)
for timestep in timesteps[:3]:
    sample = step(sample, timestep)
print(sample.tolist())
