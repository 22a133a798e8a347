import torch


class Settings:
    def __repr__(self):
        return "Settings()"


settings = Settings()


@torch.compile(backend="eager")
def shown(x):
    y = x.sin()
    return y.cos()


result = shown(torch.ones(2))
print("with", settings)
print(result.tolist())
