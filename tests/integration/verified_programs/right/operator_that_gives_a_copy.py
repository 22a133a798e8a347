"""An operator of the program's gives a copy of its argument, which is written in place."""

import torch

library = torch.library.Library("copied_through", "DEF")
library.define("checked(Tensor x) -> Tensor")
library.impl("checked", torch.clone, "CPU")
torch.library.register_fake("copied_through::checked", torch.empty_like, lib=library)


class Stage(torch.nn.Module):
    def forward(self, x):
        hidden = x - 1.0
        seen = torch.ops.copied_through.checked(hidden)
        seen.mul_(3.0)
        return hidden + seen


print(torch.compile(Stage(), backend="aot_eager")(torch.arange(4.0)).tolist())
