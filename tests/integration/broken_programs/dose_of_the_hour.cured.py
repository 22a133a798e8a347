import torch

PARTS = [1.0, 0.0, 0.5, 0.0]


def dose(hour, amount):
    slot = hour // 6 % len(PARTS)
    table = torch.tensor(PARTS)
    return amount * table[slot.reshape(1)][0]


@torch.compile(backend="eager")
def step(blood, hour):
    return blood * 0.9 + dose(hour, 4.0)


blood = torch.ones(3)
for hour in range(0, 24, 5):
    blood = step(blood, torch.tensor(hour))
print(blood.tolist())
