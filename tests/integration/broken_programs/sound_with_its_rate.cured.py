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

    def forward(self, samples, rate):
        louder = (samples * self.gain).tanh()
        return louder + 1 / rate


louder = torch.compile(Louder(), backend="eager")
sound = Sound.of(torch.linspace(-1, 1, 5), 8000)
with torch.no_grad():
    for _ in range(3):
        sound = Sound.of(louder(sound.as_subclass(torch.Tensor), sound.rate), sound.rate)
        print(type(sound).__name__, sound.rate, round(sound.as_subclass(torch.Tensor).sum().item(), 5))
