import torch

torch.manual_seed(0)


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.LSTM(3, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 2)


tagger = Tagger()
before = torch.compile(torch.relu, backend="aot_eager")
behind = torch.compile(tagger.head, backend="aot_eager")
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = behind(tagger.inner(before(torch.ones(1, 2, 3)))[0]).sum()
    loss.backward()
    optimizer.step()
    print(loss.item())
