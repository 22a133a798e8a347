import torch


def broken(graph, example_inputs):
    return graph.forward


@torch.compile(backend=broken)
def model(x):
    return x.sin().cos()


try:
    print(model(torch.ones(2)).tolist())
except Exception:
    print(torch.ones(2).sin().cos().tolist())
