import torch


class Section:
    def __init__(self, stack, name):
        self.stack, self.name = stack, name

    def __enter__(self):
        self.stack.append(self.name)

    def __exit__(self, *_):
        self.stack.pop()


class Forecaster(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.stack, self.seen = [], set()

    def note(self, name, x):
        if name not in self.seen:
            print(f"[{self.stack[-1]}] {name}: {tuple(x.shape)}")
            self.seen.add(name)

    def forward(self, x):
        with Section(self.stack, "model"):
            state = x * self.weight
            return state.sin(), state


model = torch.compile(Forecaster(), backend="eager")
for _ in range(3):
    out, state = model(torch.ones(2, 4))
    with Section(model.stack, "model"):
        model.note("state", state)
    print(round(out.sum().item(), 3))
