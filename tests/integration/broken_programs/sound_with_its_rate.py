"""Sound is a tensor of a class of its own, which knows its rate.

kind: graph break
advice: calculate with plain tensors

Made after the tensor classes of torchvision (`tv_tensors`).
"""

import torch


class Sound(torch.Tensor):
    rate: int

    @staticmethod
    def of(samples, rate):
        sound = samples.as_subclass(Sound)
        sound.rate = rate
        return sound


class Louder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.tensor(1.5))

    def forward(self, sound):
        samples = sound.as_subclass(torch.Tensor)  # cause
        louder = (samples * self.gain).tanh()
        return Sound.of(louder + 1 / sound.rate, sound.rate)


louder = torch.compile(Louder(), backend="eager")
sound = Sound.of(torch.linspace(-1, 1, 5), 8000)
with torch.no_grad():
    for _ in range(3):
        sound = louder(sound)
        print(type(sound).__name__, sound.rate, round(sound.as_subclass(torch.Tensor).sum().item(), 5))
