import torch


class Forecaster(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.into = torch.nn.Linear(32, 16)
        self.out = torch.nn.Linear(16, 4)

    def load(self, compile_it):
        with torch.no_grad():
            for weight in self.parameters():
                weight.fill_(0.01)
        if compile_it:
            self.compile(backend="eager")
        self.eval()

    def forward(self, x):
        return self.out(self.into(x).relu())


model = Forecaster()
model.load(True)
with torch.no_grad():
    for step in range(5):
        print([round(each, 5) for each in model(torch.full((32,), 1.0 + step)).tolist()])
