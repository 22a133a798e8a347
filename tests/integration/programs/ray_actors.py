"""Two Ray actors that compile and reduce together; on one of them the graph breaks. Arguments: the cluster's
address, and a file with its runtime environment.
"""

import json
import socket
import sys
from pathlib import Path

import ray
import torch
import torch.distributed as dist


@ray.remote(num_cpus=1)
class Trainer:
    def run(self, rank, port):
        dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)

        @torch.compile(backend="eager")
        def step(x):
            x = x.sin()
            if dist.get_rank() == 1:
                print("of the second alone")
            return x.cos()

        for _ in range(5):
            x = step(torch.ones(4))
            dist.all_reduce(x)
        return round(x.sum().item(), 4)


if __name__ == "__main__":
    environment = json.loads(Path(sys.argv[2]).read_text())
    ray.init(address=sys.argv[1], runtime_env=environment, log_to_driver=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    trainers = [Trainer.remote() for _ in range(2)]
    print(ray.get([each.run.remote(rank, port) for rank, each in enumerate(trainers)]))
