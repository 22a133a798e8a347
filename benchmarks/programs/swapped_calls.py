"""Call a tiny compiled graph under `dynamo run`, counted and bare in turn, and print what each block took.

Two processes differ by more than counting takes, each for as long as it lives: where its memory lies. So one
process calls one compiled frame, in whose globals what Dynamo calls is replaced block by block: the counted
callable, or what its backend returned, each in the wrapper that torch puts around them
(torch/_dynamo/output_graph.py, compile_and_call_fx_graph: `disable`; read in 2.8 to 2.15).
"""

import argparse
import json
from inspect import getclosurevars
from time import process_time_ns

import torch

WARM_UP, CALLS, BLOCKS = 20_000, 1_000, 300


def main() -> None:
    """Warm up, then call each of them in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="eager")
    backend = parser.parse_args().backend

    torch.set_num_threads(1)
    x = torch.ones(4)

    @torch.compile(backend=backend)
    def add_one(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    with torch.no_grad():
        for _ in range(WARM_UP):
            add_one(x)
        (name,) = (name for name in globals() if name.startswith("__compiled_fn_"))
        counted = globals()[name].__wrapped__
        bare = getclosurevars(counted).nonlocals["compiled"]
        sides = {
            "bare": torch._dynamo.disable(bare),
            "counted": torch._dynamo.disable(counted),
            "bare, once more": torch._dynamo.disable(bare),
        }
        taken: dict[str, list[float]] = {side: [] for side in (*sides, "an empty function")}
        for _ in range(BLOCKS):
            for side, callable_ in sides.items():
                globals()[name] = callable_
                start = process_time_ns()
                for _ in range(CALLS):
                    add_one(x)
                taken[side].append((process_time_ns() - start) / CALLS)
            start = process_time_ns()
            for _ in range(CALLS):
                _do_nothing(x)
            taken["an empty function"].append((process_time_ns() - start) / CALLS)
    print(json.dumps(taken))


def _do_nothing(*args: torch.Tensor) -> None:
    """What a call itself takes, for scale."""


if __name__ == "__main__":
    main()
