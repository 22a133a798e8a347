"""A server skips the evaluation of guards for good, and a request changes how many layers are run.

After PyTorch's page on the stance `skip_guard_eval_unsafe`.
kind: value
stage: guards
"""

import torch


class Request:
    def __init__(self, depth):
        self.depth = depth


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def repeated(self, x, request):
        for _ in range(request.depth):  # cause
            x = torch.relu(self.layer(x)) + 0.5
        return x

    def forward(self, x, request):
        x = x - 1.0
        x = self.repeated(x, request)
        return x.sum(dim=-1)


class Server:
    def __init__(self):
        self.model = torch.compile(Layers(), backend="eager")

    def answer(self, request):
        return self.model(torch.ones(2, 3), request).tolist()


torch.manual_seed(0)
server = Server()
print(server.answer(Request(1)))
torch.compiler.set_stance(skip_guard_eval_unsafe=True)
print(server.answer(Request(3)))
