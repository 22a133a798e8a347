"""Write the words and sentences that are torch's own, for `dynamo bundle --without-source`.

    .venv/bin/python tests/data/collect_torch_words.py

What is in none of them may be the user's, and is replaced. Needs torch. Reads what torch names (operators,
functions, classes, modules, guards, phases), what it says, and the registry of graph breaks, which keeps the
texts of earlier versions: torch/_dynamo/graph_break_registry.json. Adds to what is there, of other versions.
"""

import ast
import builtins
import dis
import importlib
import json
import keyword
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch._dynamo import variables
from torch._dynamo.guards import GuardBuilder

OUTPUT = Path(__file__).resolve().parents[2] / "core/dynamo_core/bundle/torch_words.json"
NAMESPACES = [
    "builtins",
    "operator",
    "math",
    "functools",
    "itertools",
    "collections",
    "contextlib",
    "types",
    "torch",
    "torch.Tensor",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.Module",
    "torch.nn.Parameter",
    "torch.nn.init",
    "torch.optim",
    "torch.autograd",
    "torch.autograd.Function",
    "torch.compiler",
    "torch.compiler.config",
    "torch._dynamo",
    "torch._dynamo.config",
    "torch._dynamo.utils",
    "torch._dynamo.exc",
    "torch._dynamo.source",
    "torch._inductor.config",
    "torch._functorch.config",
    "torch.fx",
    "torch.fx.Node",
    "torch.fx.GraphModule",
    "torch.fx.experimental._config",
    "torch.cuda",
    "torch.distributed",
    "torch.utils.data",
    "torch.utils.checkpoint",
    "torch.utils._pytree",
    "torch.amp",
    "torch._C._nn",
    "torch._C._functorch",
    "torch._C._linalg",
    "torch._C._fft",
    "torch._C._dynamo.guards",
    "torch._C._dynamo.eval_frame",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.sparse",
    "torch.random",
    "torch.profiler",
    "torch.library",
    "torch.func",
    "torch.ops.prims",
    "torch.nn.attention",
    "torch.ops.higher_order",
]
# What programs call in what they compile: the functions, classes and methods of these modules.
_LIBRARY = """
    ast asyncio atexit bisect copy csv dataclasses datetime decimal enum fractions gc getpass glob hashlib
    heapq inspect io json logging os os.path pathlib pickle platform pprint queue random re resource secrets
    shutil signal socket statistics string struct subprocess sys tempfile textwrap threading time traceback
    tracemalloc typing uuid warnings weakref zlib
    """
_HOLE = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
# Where records, phases, passes and their fields get their names.
_NAMING = [
    "_dynamo/**/*.py",
    "_functorch/**/*.py",
    "_logging/*.py",
    "_guards.py",
    "_subclasses/*.py",
    "fx/**/*.py",
    "_inductor/*.py",
    "_inductor/fx_passes/*.py",
    "_inductor/runtime/*.py",
    "_inductor/codegen/*.py",
]
# Where breaks, and what cannot be compiled, are explained.
_SAYING = ["_dynamo/*.py", "_dynamo/variables/*.py", "fx/experimental/symbolic_shapes.py"]
_MANY_WORDS = 4
_LEAST_SENTENCE = 12  # characters; what is shorter could be anybody's
_WORD = re.compile(r"[^\W\d]\w+")


def named_in(path: str) -> Iterator[str]:
    """The public and private names of a module or a class."""
    try:
        yield from dir(importlib.import_module(path))
    except ImportError:
        module, _, rest = path.rpartition(".")
        yield from dir(getattr(importlib.import_module(module), rest, None))  # not in every version


def of_the_library(path: str) -> Iterator[str]:
    """What a module of the standard library offers: no constants of its own, such as numbers of signals."""
    for name, value in vars(importlib.import_module(path)).items():
        if not name.startswith("_") and callable(value):
            yield name
            if isinstance(value, type):
                yield from (method for method in vars(value) if not method.startswith("_"))


def words() -> set[str]:
    """Identifiers."""
    found = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *sys.stdlib_module_names, *dis.opname}
    found |= {name for path in _LIBRARY.split() for name in of_the_library(path)}
    for path in NAMESPACES:
        found |= {*named_in(path), *path.split(".")}
    for schema in torch._C._jit_get_all_schemas():
        space, _, operator = schema.name.partition("::")
        if space in ("aten", "prim", "prims", "inductor", "higher_order"):
            found |= {space, *operator.split("."), *schema.overload_name.split(".")}
            found |= {argument.name for argument in schema.arguments}
    found |= {*dir(variables), *dir(GuardBuilder), *dir(torch._C.DispatchKey)}
    root = Path(torch.__file__).parent
    for module in pkgutil.walk_packages([str(root)], "torch.", onerror=lambda name: None):
        if not module.name.startswith(("torch.testing", "torch.test")):
            found |= set(module.name.split("."))
    for module in modules(_NAMING):
        found |= set(names_given(module))
    return {word for word in found if len(word) > 1 and word.isidentifier() and word.isascii()}


def modules(patterns: list[str]) -> Iterator[ast.Module]:
    """torch's source, by the patterns of its files."""
    root = Path(torch.__file__).parent
    for pattern in patterns:
        for file in sorted(root.glob(pattern)):
            yield ast.parse(file.read_text(encoding="utf-8"))


def names_given(module: ast.Module) -> Iterator[str]:
    """Names of several words (`entire_frame_compile`): one that is a single word could be anybody's."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value
        else:
            continue
        if name.isidentifier() and ("_" in name.strip("_") or isinstance(node, ast.ClassDef)):
            yield name


def said(module: ast.Module) -> Iterator[str]:
    """What is said in texts, which is not documentation."""
    documentation = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def sentences() -> set[str]:
    """The parts of torch's explanations that are the same for every program: two words or more."""
    registry = json.loads((Path(torch.__file__).parent / "_dynamo/graph_break_registry.json").read_text())
    texts = {
        text
        for entries in registry.values()
        for entry in entries
        for text in (entry["Gb_type"], entry["Explanation"], *entry["Hints"])
    }
    more = {text for module in modules(_SAYING) for text in said(module)}
    texts |= {line for text in more for line in text.split("\n") if len(_WORD.findall(line)) >= _MANY_WORDS}
    parts = {part.strip() for text in texts for line in text.split("\n") for part in _HOLE.split(line)}
    return {part for part in parts if len(_WORD.findall(part)) > 1 and len(part) >= _LEAST_SENTENCE}


if __name__ == "__main__":
    before = json.loads(OUTPUT.read_text(encoding="utf-8")) if OUTPUT.exists() else {}
    content = {
        "words": sorted(words().union(before.get("words", ()))),
        "sentences": sorted(sentences().union(before.get("sentences", ()))),
    }
    OUTPUT.write_text(json.dumps(content, indent=0) + "\n", encoding="utf-8")
    print(f"{len(content['words'])} words, {len(content['sentences'])} sentences")
