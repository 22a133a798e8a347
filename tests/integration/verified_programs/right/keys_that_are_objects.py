"""Objects are keys by their identity, and a list that the function fills keeps what it is given in order."""

import torch


class Node:
    def __init__(self, weight):
        self.weight = weight


class Walk:
    def __init__(self, nodes):
        self.nodes = nodes
        self.visits = dict.fromkeys(nodes, 0)
        self.log = []

    def step(self, x):
        for node in sorted(self.nodes, key=id):
            self.visits[node] += 1
        for node in self.nodes:
            x = x * node.weight
            self.log.append(node.weight)
        return x + len(self.log)


walk = Walk([Node(2.0), Node(0.5), Node(3.0)])
step = torch.compile(walk.step, backend="eager")
print(step(torch.ones(2)), step(torch.ones(2)))
print([*walk.visits.values()], walk.log)
