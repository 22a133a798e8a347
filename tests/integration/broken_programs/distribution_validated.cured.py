import torch
from torch.distributions import Categorical


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.logits = torch.nn.Linear(4, 2)

    def forward(self, x, action):
        chosen = Categorical(logits=self.logits(x), validate_args=False)
        return chosen.logits.gather(1, action[:, None]), chosen.entropy()


torch.manual_seed(0)
policy = Policy()
x = torch.randn(8, 4)
for _ in range(3):
    log_prob, entropy = policy(x, torch.zeros(8, dtype=torch.long))
    (log_prob.sum() + entropy.sum()).backward()
print(policy.logits.weight.grad)
