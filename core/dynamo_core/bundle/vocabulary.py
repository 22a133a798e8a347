"""The words and sentences that are torch's, Python's and ours: what is in none of them may be the user's.

torch's and Python's are in `torch_words.json`, which `tests/data/collect_torch_words.py` writes. Ours are
read from our own source: the fields and values of the records, and the sentences in them.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

# What writes into a recording, and what says how that is read.
_OUR_ROOMS = ("backends", "capture", "launch", "model")
_OUR_FILES = ("names.py", "records.py", "settings.py", "call_pages.py", "aot_pair.py", "errors.py")
_WORD = re.compile(r"[^\W\d]\w*")
_LEAST_SENTENCE = 6  # characters by which sentences are found

# Of the sentences that torch makes in C++ (torch/csrc/dynamo/guards.cpp), of the texts that it lays out
# (torch/_dynamo/exc.py, symbolic_convert.py, guards.py), of readable graphs, and of compiled graphs' inputs.
_MORE_WORDS = """
    self tensor size stride rank dtype device mismatch expected actual Expected index at but found to be
    a an the of is not and or in with has have no type got Tensor Cache line invalidated because
    deallocated HINT requires_grad dispatch key set changed contains hasattr was used by source
    accessed_by Guard latency us TREE_GUARD_MANAGER LAMBDA_GUARD Explanation Hint Developer debug
    context Reason primals tangents arg buf GraphModule inner_f File code f64 f32 f16 bf16 c32 c64 c128
    i8 i16 i32 i64 b8 u8 u16 u32 u64 Sym modules parameters buffers aten prims outcome generic_jump
    TensorVariable ConstantVariable UserDefinedObjectVariable default Scalar int_oo oo true false null
    hit miss NULL local ids framelocals_idx tag_safe CPU CUDA check_no_aliasing CURRENT_DEVICE
    PlainAOTInput PlainAOTOutput loc inductor eager aot_eager cudagraphs cuda cpu mps xpu meta
    contiguous_format preserve_format channels_last has_kwargs _modules _parameters _buffers
    qualname _forward_hooks _backward_hooks _non_persistent_buffers_set
    """
_MORE_SENTENCES = (
    "' to be a tensor type, ' but found <class '",
    "Graph break in user code at ",
    "Graph Break Reason: ",
    "Encountered graph break when attempting to trace ",
    "User code traceback:",
    "User stack trace:",
    "Developer debug context: ",
    "For more details about this graph break, please visit: ",
    "*** While handling this graph break, another graph break occurred: ***",
    "Traceback (most recent call last):",
    "generic_jump TensorVariable()",
    "call torch._dynamo.graph_break()",
    " calls torch.compile",
)


@cache
def words() -> frozenset[str]:
    """Names that say nothing of the program."""
    ours = {word for file in _our_source() for word in _names_in(file)}
    return frozenset({*_torchs()["words"], *_MORE_WORDS.split(), *ours})


@cache
def sentences() -> dict[str, tuple[str, ...]]:
    """Texts of several words that say nothing of the program, by how they begin; the longest first."""
    ours = {text for file in _our_source() for text in _sentences_in(file)}
    found: dict[str, list[str]] = {}
    for text in sorted(
        {*_torchs()["sentences"], *_MORE_SENTENCES, *ours}, key=lambda text: (-len(text), text)
    ):
        found.setdefault(text[:_LEAST_SENTENCE], []).append(text)
    return {begin: tuple(texts) for begin, texts in found.items() if len(begin) == _LEAST_SENTENCE}


def sentence_at(text: str, position: int) -> str | None:
    """The longest of the sentences that stands there."""
    for sentence in sentences().get(text[position : position + _LEAST_SENTENCE], ()):
        if text.startswith(sentence, position):
            return sentence
    return None


@cache
def _torchs() -> dict[str, list[str]]:
    content = (resources.files(__package__) / "torch_words.json").read_text(encoding="utf-8")
    found: dict[str, list[str]] = json.loads(content)
    return found


@cache
def _our_source() -> tuple[ast.Module, ...]:
    root = resources.files("dynamo_core")
    files = [root / "shared" / name for name in _OUR_FILES]
    files += [file for room in _OUR_ROOMS for file in _python_files(root / room)]
    return tuple(ast.parse(file.read_text(encoding="utf-8")) for file in files)


def _python_files(folder: Traversable) -> Iterator[Traversable]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _python_files(item)
        elif item.name.endswith(".py"):
            yield item


def _names_in(module: ast.Module) -> Iterator[str]:
    """Keys and values of records: fields, parameters, and texts of one word."""
    for node in ast.walk(module):
        if isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORD.fullmatch(node.value):
            yield node.value


def _sentences_in(module: ast.Module) -> Iterator[str]:
    """What is said in texts of several words; what stands in the holes of a text is not ours."""
    return (
        node.value.strip()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and len(_WORD.findall(node.value)) > 1
        and "\n" not in node.value
    )


def all_in(names: Iterable[str]) -> bool:
    """Whether each of them is known."""
    return all(name in words() for name in names)
