"""Changes that are tried on a frame, in a copy of the process."""

import json
from typing import Any

import torch
import torch._dynamo

from dynamo_core.capture.interventions.fork_server import ForkServer
from dynamo_core.capture.interventions.trials import Call, _trace


def test_what_is_tried_has_as_many_threads_as_the_program() -> None:
    threads, seen = torch.get_num_threads(), []

    def step(x: Any) -> Any:
        seen.append(torch.get_num_threads())
        return x * 2

    def work(_: str, file: Any) -> None:
        traced = _trace(Call(step, (torch.ones(2),), {}), [], [""])
        file.write(json.dumps([traced.ops, seen]).encode())

    try:
        torch.set_num_threads(2)
        server = ForkServer(work, lambda: None)
        assert json.loads(server.ask("", 20)) == [1, [2]]
        server.end()
    finally:
        torch.set_num_threads(threads)
