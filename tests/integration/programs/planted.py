"""A program full of what nobody outside may see, for tests/front_door/test_bundling.py."""

# planted-comment-one of QuarryFoxCorp
import os
import sys

import torch

QUARRY_ACCOUNT = "acct-quarry-0001"  # planted comment two: ask mallory.quux@example.org
_PRICE_OF_ZIRCON = 31415.92653
_CARD = 4929123456781234
SETTINGS = {"zircon_mode": "velvet-hammer", "phone": "+49 1521 5550199", "depth": 3}


class ZirconPricing(torch.nn.Module):
    """Planted documentation: the quarterly zircon forecast."""

    def __init__(self) -> None:
        super().__init__()
        self.gneiss_projection = torch.nn.Linear(8, 8)
        self.basalt_norm = torch.nn.LayerNorm(8)
        self.customer_tag = "customer Ottokar Feldspat"
        self.register_buffer("marble_offsets", torch.full((8,), 0.123456789))

    def forward(self, shale_input: torch.Tensor, granite_flag: str) -> torch.Tensor:
        """The forecast of granodiorite prices."""
        # QuarryFoxCorp: ask quux@example.org, +49 1521 5550199, or acct-quarry-0001
        quartzite = self.gneiss_projection(shale_input) * 271828.1828 + 0.123456789
        if granite_flag == "velvet-hammer" or shale_input.shape[0] > 4929123456781234:
            quartzite = quartzite / 31415.92653
        if granite_flag == "obsidian-secret":
            quartzite = quartzite + self.marble_offsets
        if self.customer_tag == "customer Ottokar Feldspat":
            quartzite = quartzite + SETTINGS["depth"]
        print("pumice printed", QUARRY_ACCOUNT)
        if quartzite.sum() > 9988776:
            quartzite = quartzite - 1
        torch._dynamo.graph_break(msg="tuffstein broke for mallory")
        return self.basalt_norm(quartzite) + len(granite_flag)


@torch.compiler.disable(reason="dolomite is licensed from Kalkstein AG")
def dolomite_helper(travertine: torch.Tensor) -> torch.Tensor:
    return travertine + 1


def sandstone_loss(slate: torch.Tensor, feldspar_rate: float) -> torch.Tensor:
    amphibolite = {"olivine_key": feldspar_rate}
    return dolomite_helper((slate * amphibolite["olivine_key"]).sum())


def pyroxene_failure(slate: torch.Tensor) -> torch.Tensor:
    if slate.shape[0] > 2:
        raise ValueError("augite overdraft of Herr Hornblende")
    return slate


def main() -> None:
    torch.manual_seed(77001122)
    model = torch.compile(ZirconPricing(), backend="aot_eager")
    step = torch.compile(sandstone_loss, backend="aot_eager")
    failing = torch.compile(pyroxene_failure, backend="eager")
    for rate, flag in (
        (0.5772156649, "obsidian-secret"),
        (1.4142135623, "rhyolite-secret"),
        (2.5, "rhyolite-secret"),
    ):
        step(model(torch.randn(int(rate) + 3, 8), flag), rate)
    try:
        failing(torch.ones(3))
    except ValueError as error:
        print("caught", error, file=sys.stderr)
    assert os.environ["TORCH_LOGS_OUT"].endswith("scoria-logs")


if __name__ == "__main__":
    main()
