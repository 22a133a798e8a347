"""A worker resets torch each time that it is given weights; its policy is a module of torch's.

kind: compiled anew
advice: reset()

Made after https://github.com/ray-project/ray/pull/34640
"""

import torch


class Worker:
    """Collects rollouts with weights that the learner sends."""

    def __init__(self):
        self.policy = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
        self.explore = torch.compile(self.policy, backend="eager")

    def set_weights(self, state):
        self.policy.load_state_dict(state)
        torch._dynamo.reset()

    def sample(self, steps):
        observation = torch.zeros(4, 8)
        total = 0.0
        with torch.no_grad():
            for _ in range(steps):
                action = self.explore(observation)  # cause
                observation = observation + action.sum() * 0.1
                total += action.mean().item()
        return total


torch.manual_seed(0)
worker = Worker()
learner = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
for update in range(5):
    with torch.no_grad():
        for weight in learner.parameters():
            weight.mul_(0.9)
    worker.set_weights(learner.state_dict())
    print(round(worker.sample(3), 5))
