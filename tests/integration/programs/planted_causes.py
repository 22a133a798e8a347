"""Compiles a function for each cause of a cold start; with `planted`, each under what it is named after.

Other arguments name the functions to compile. They are matrix products: Inductor calls torch for those, and
no C++ is compiled. Each has another number of them, so that none finds another's graph.
"""

import contextlib
import sys
import time

import torch
import torch.distributed as dist
from torch._functorch import config as functorch
from torch._inductor import config as inductor
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch.distributed._functional_collectives import all_reduce

IS_PLANTED = "planted" in sys.argv
ONLY = [name for name in sys.argv[1:] if name != "planted"]
x, EYE = torch.ones(4, 4), torch.eye(4)


class Pass(CustomGraphPass):
    def __init__(self, identity):
        self.identity = identity

    def __call__(self, graph):
        pass

    def uuid(self):
        return self.identity


@torch.compiler.allow_in_graph
def not_known_to_torch(value):
    return value @ value


@contextlib.contextmanager
def between(begin, end):
    begin()
    try:
        yield
    finally:
        end()


def custom(identity):
    return inductor.patch(post_grad_custom_post_pass=Pass(identity))


if IS_PLANTED:

    def edited(x, times):
        return product(x, times).t()

else:

    def edited(x, times):
        return product(x, times)


def product(x, times):
    for _ in range(times):
        x = x @ x
    return x


def unknown_function(x, times):
    return not_known_to_torch(product(x, times)) if IS_PLANTED else product(x, times)


def checked_operator(x, times):
    return torch.linalg.inv(product(EYE, times)) @ x


def process_group(x, times):
    return all_reduce(product(x, times), "sum", groups[IS_PLANTED])


dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
groups = [dist.new_group([0]), dist.new_group([0])]
set_default = torch.set_default_dtype
deterministic = torch.use_deterministic_algorithms
# Name: where it is planted, and what is passed then.
CAUSES = {
    "unchanged": (contextlib.nullcontext, x),
    "setting": (lambda: inductor.patch(max_fusion_size=32), x),
    "autograd_setting": (lambda: functorch.patch(activation_memory_budget=0.5), x),
    "mode_option": (lambda: inductor.patch({"cpp.simdlen": 256}), x),
    "tag": (lambda: torch.compiler.config.patch(cache_key_tag="v2"), x),
    "threads": (lambda: between(lambda: torch.set_num_threads(1), lambda: torch.set_num_threads(2)), x),
    "default_dtype": (
        lambda: between(lambda: set_default(torch.double), lambda: set_default(torch.float)),
        x,
    ),
    "deterministic": (lambda: between(lambda: deterministic(True), lambda: deterministic(False)), x),
    "grad_mode": (torch.no_grad, x),
    "autocast": (lambda: torch.autocast("cpu", dtype=torch.bfloat16), x),
    "shape": (contextlib.nullcontext, torch.ones(8, 8)),
    "dtype": (contextlib.nullcontext, x.double()),
    "stride": (contextlib.nullcontext, torch.ones(4, 4).t()),
    "requires_grad": (contextlib.nullcontext, torch.ones(4, 4, requires_grad=True)),
    "edited": (contextlib.nullcontext, x),
    "process_group": (contextlib.nullcontext, x),
    "pass_changed": (lambda: custom("version 2"), x),
    "pass_with_address": (lambda: custom(f"Pass at {hex(id(object()))}"), x),
    "pass_with_time": (lambda: custom(f"built {time.time()}"), x),
    "pass_without_id": (lambda: inductor.patch(post_grad_custom_post_pass=lambda graph: None), x),
    "unknown_function": (contextlib.nullcontext, x),
    "checked_operator": (contextlib.nullcontext, x),
    "freezing": (lambda: inductor.patch(freezing=True), x),
}
BEFORE = {
    "pass_changed": lambda: custom("version 1"),
    "pass_with_address": lambda: custom(f"Pass at {hex(id(dist))}"),
    "pass_with_time": lambda: custom(f"built {time.time()}"),
    "threads": lambda: between(lambda: torch.set_num_threads(2), lambda: None),
}
OWN = {
    "edited": edited,
    "unknown_function": unknown_function,
    "checked_operator": checked_operator,
    "process_group": process_group,
}

for times, (name, (planted, argument)) in enumerate(CAUSES.items(), 1):
    if ONLY and name not in ONLY:
        continue
    function = OWN.get(name)
    if function is None:
        scope = {"product": product}
        exec(f"def {name}(x, times):\n    return product(x, times)", scope)
        function = scope[name]
    surroundings = planted() if IS_PLANTED else BEFORE.get(name, contextlib.nullcontext)()
    with surroundings:
        torch.compile(function)(argument if IS_PLANTED else x, times)
    torch._dynamo.reset()
