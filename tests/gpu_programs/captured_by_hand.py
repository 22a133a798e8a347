"""Compiled code is recorded into a CUDA graph of the program's own, and replayed."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 1024)).cuda()
compiled = torch.compile(model)
with torch.no_grad():
    x = torch.randn(64, 1024, device="cuda")
    for _ in range(20):
        compiled(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = compiled(x)
    for _ in range(3):
        x.normal_()
        graph.replay()
    print(torch.allclose(y, model(x), atol=1e-2))
