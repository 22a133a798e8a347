"""Placeholders for what is the user's: equal for equal names, so that the structure stays readable.

Names and sentences of torch, Python and ours are not replaced; anything else may be the user's. Those of
torch and Python are in `torch_words.json`, which `tests/data/collect_torch_words.py` writes. Ours are read
from our own source: the fields and values of the records, and the sentences in them.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable  # not in Python 3.10

# Our modules that write recordings, and those that define how recordings are read.
_OUR_FOLDERS = ("backends", "capture", "launch", "model")
_OUR_FILES = (
    "names.py",
    "early_records.py",
    "records.py",
    "settings.py",
    "call_pages.py",
    "aot_pair.py",
    "errors.py",
)
_WORD = re.compile(r"[^\W\d]\w*")
_LEAST_SENTENCE = 6  # characters; sentences are indexed by their first ones

# Words of the sentences that torch makes in C++ (torch/csrc/dynamo/guards.cpp), of the texts that it formats
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
    """Known names, which reveal nothing about the program."""
    ours = {word for file in _our_source() for word in _names_in(file)}
    return frozenset({*_torch_words()["words"], *_MORE_WORDS.split(), *ours})


@cache
def sentences() -> dict[str, tuple[str, ...]]:
    """Known texts of several words, by their first characters; the longest first."""
    ours = {text for file in _our_source() for text in _sentences_in(file)}
    found: dict[str, list[str]] = {}
    for text in sorted(
        {*_torch_words()["sentences"], *_MORE_SENTENCES, *ours}, key=lambda text: (-len(text), text)
    ):
        found.setdefault(text[:_LEAST_SENTENCE], []).append(text)
    return {begin: tuple(texts) for begin, texts in found.items() if len(begin) == _LEAST_SENTENCE}


def known_sentences(text: str) -> Iterator[tuple[int, str]]:
    """The longest known sentences in a text, one behind the other, each with where it begins."""
    known = sentences()
    end = 0
    for at in range(len(text)):
        if at < end or (begin := text[at : at + _LEAST_SENTENCE]) not in known:
            continue
        sentence = next((each for each in known[begin] if text.startswith(each, at)), None)
        if sentence is not None:
            yield at, sentence
            end = at + len(sentence)


@cache
def _torch_words() -> dict[str, list[str]]:
    content = (resources.files(__package__) / "torch_words.json").read_text(encoding="utf-8")
    found: dict[str, list[str]] = json.loads(content)
    return found


@cache
def _our_source() -> tuple[ast.Module, ...]:
    root = resources.files("dynamo_core")
    files = [root / "shared" / name for name in _OUR_FILES]
    files += [file for room in _OUR_FOLDERS for file in _python_files(root / room)]
    return tuple(ast.parse(file.read_text(encoding="utf-8")) for file in files)


def _python_files(folder: "Traversable") -> Iterator["Traversable"]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _python_files(item)
        elif item.name.endswith(".py"):
            yield item


def _names_in(module: ast.Module) -> Iterator[str]:
    """Keys and values of records in a module: fields, parameters, and strings of one word."""
    for node in ast.walk(module):
        if isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORD.fullmatch(node.value):
            yield node.value


def _sentences_in(module: ast.Module) -> Iterator[str]:
    """Strings of several words in a module; values inserted into them are not ours."""
    return (
        node.value.strip()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and len(_WORD.findall(node.value)) > 1
        and "\n" not in node.value
    )


# Public packages, whose files keep their paths.
_PUBLIC_PACKAGES = frozenset(
    [
        "accelerate",
        "bitsandbytes",
        "datasets",
        "deepspeed",
        "diffusers",
        "einops",
        "flash_attn",
        "functorch",
        "huggingface_hub",
        "lightning",
        "numpy",
        "peft",
        "pytest",
        "pytorch_lightning",
        "ray",
        "safetensors",
        "scipy",
        "sentence_transformers",
        "sglang",
        "sympy",
        "timm",
        "tokenizers",
        "torch",
        "torchao",
        "torchaudio",
        "torchgen",
        "torchmetrics",
        "torchvision",
        "transformers",
        "triton",
        "trl",
        "vllm",
        "xformers",
        "dynamo_cli",
        "dynamo_core",
        "dynamo_reporters",
    ]
)
_OURS = ("dynamo_core", "dynamo_cli", "dynamo_reporters")
_A_PYTHON = re.compile(r"python[\d.]{0,9}")
# A path below the folder of packages, or of the standard library; its first part is the package.
_IN_PACKAGES = re.compile(r"(\w+)(?:[./-][\w./-]*)?")
_OF_TORCH = ("/site-packages/torch/", "/dist-packages/torch/")
_IN_LIBRARY = re.compile(r"\d{1,2}/(\w+)[./][\w./-]*")
_MADE_AT_RUN_TIME = re.compile(r"<(?:frozen [\w.]+|string|stdin|eval_with_key>\.\d+|eval_with_key|unknown)>?")
_ENDINGS = frozenset(
    [
        ".py",
        ".pyc",
        ".so",
        ".cpp",
        ".h",
        ".cu",
        ".ll",
        ".bin",
        ".log",
        ".gz",
        ".json",
        ".txt",
        ".sh",
        ".yaml",
        ".yml",
        ".toml",
        ".pt",
        ".whl",
        ".zip",
    ]
)
_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")
# Names that Dynamo and AOTAutograd make: of symbols, of inputs, of functions.
_MADE_BY_TORCH = re.compile(
    r"[suz]f?\d+|(?:arg|primals|tangents|buf|___stack|__stack|tmp|op)_?\d+(?:_\d+)?|L|G|__resume_at_\d+_\d+"
    r"|__compiled_fn_\d+(?:_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12})?|fw_graph\d+|bw_graph\d+|gb\d{4}|GB\d{4}"
    r"|dynamo_(?:calls|profile)_\w+|dedicated_log_torch_trace_[\d_a-z]*|rank_?\d+|_\d+|_"
)
_NUMBERED = re.compile(r"(.*[^\d_])_(\d+)")
# `l_self_modules_fc_parameters_weight_` is made of the names `self`, `fc` and `weight`.
_NAMED_BY_PLACES = re.compile(r"([lLgG]_)(.+?)(_?)", re.DOTALL)
_BETWEEN_PLACES = re.compile(r"(_(?:modules|parameters|buffers|dict)_|(?<=^self)_|(?<![^_])\d+(?![^_]))")
_LONGEST_NUMBER = 6  # digits: sizes and counts are shorter, identities and secrets longer
_PLAIN_FRACTIONS = ("0.0", "1.0")  # sizes are whole; any other fraction is a constant of the user's


class Placeholders:
    """Gives names, paths, texts and numbers of the user's placeholders, numbered in order of appearance."""

    def __init__(self) -> None:
        self._given: dict[str, dict[str, str]] = {}
        self._words: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._folders: dict[str, list[list[str]]] = {}  # the folders of absolute paths, by the file

    def given(self) -> dict[str, dict[str, str]]:
        """The originals of placeholders by kind: `{"name": {"name1": "customer"}}`."""
        return {
            kind: {placeholder: original for original, placeholder in given.items()}
            for kind, given in sorted(self._given.items())
        }

    def _new(self, kind: str, original: str, form: str = "{}{}") -> str:
        placeholders = self._given.setdefault(kind, {})
        if original not in placeholders:
            placeholders[original] = form.format(kind, len(placeholders) + 1)
        return placeholders[original]

    def word(self, word: str) -> str:
        """A known name unchanged; else a placeholder, or a name with placeholders for its unknown parts."""
        if word not in self._words:
            self._words[word] = self._replace_word(word)
        return self._words[word]

    def _replace_word(self, word: str) -> str:
        if (len(word) > 1 and word in words()) or _MADE_BY_TORCH.fullmatch(word):
            return word
        resumed = _RESUMED.fullmatch(word)
        if resumed:
            return f"torch_dynamo_resume_in_{self.name(resumed[1])}_at_{resumed[2]}"
        places = _NAMED_BY_PLACES.fullmatch(word)
        if places:
            parts = _BETWEEN_PLACES.split(places[2])
            inside = "".join(
                self.name(part) if at % 2 == 0 and part else part for at, part in enumerate(parts)
            )
            return places[1] + inside + places[3]
        numbered = _NUMBERED.fullmatch(word)
        if numbered:
            return f"{self.word(numbered[1])}_{numbered[2]}"
        return self._new("name", word)

    def name(self, text: str) -> str:
        """A text with each of its names replaced, such as `<lambda>` or `Net.forward`."""
        return re.sub(r"\w+", lambda found: self.word(found[0]), text)

    def text(self, text: str) -> str:
        """The placeholder of a text as a whole."""
        return self._new("text", text)

    def number(self, text: str) -> str:
        """A whole number stays where it is short, a fraction only where torch writes it for everybody."""
        is_whole = text.isdecimal() or text[:2].lower() == "0x"
        if (is_whole and sum(map(str.isdigit, text)) <= _LONGEST_NUMBER) or text in _PLAIN_FRACTIONS:
            return text
        form = "100000{1}" if is_whole else "100000{1}.5"
        return self._new("number", text, form)

    def path(self, path: str) -> str:
        """A path with placeholders for folders and file; paths in public packages stay."""
        if path not in self._paths:
            self._paths[path] = self._replace_path(path)
        return self._paths[path]

    def module(self, dotted: str) -> str:
        """The name of a module, with placeholders as for its file; names in public packages stay."""
        *folders, file = dotted.split(".")
        package = (folders or [file])[0]
        if package in _PUBLIC_PACKAGES or package in sys.stdlib_module_names:
            return self.name(dotted)
        return ".".join([*map(self._folder, folders), self._new("file", file)])

    def _replace_path(self, path: str) -> str:
        if not path or _MADE_AT_RUN_TIME.fullmatch(path):
            return path
        public = _public_path(path)
        if public is not None:
            return public
        *folders, last = path.split("/")
        # Paths that torch shortens in its records: `_dynamo/output_graph.py`, `nn/modules/linear.py`.
        is_torchs = folders[:2] == ["nn", "modules"] or (
            bool(folders) and (folders[0] in _PUBLIC_PACKAGES or folders[0].startswith("_"))
        )
        if is_torchs and words().issuperset([*folders, PurePosixPath(last).stem]):
            return path
        if path.startswith("/"):
            self._folders.setdefault(last, []).append(folders)
        elif folders:
            folders[0] = self._first_folder(folders, last)
        return "/".join([*map(self._folder, folders), self._file(last)])

    def _first_folder(self, folders: list[str], last: str) -> str:
        """The first folder of a path that torch has shortened, in full, taken from earlier absolute paths."""
        first, *rest = folders
        for known in self._folders.get(last, ()):
            at = len(known) - len(folders)
            if at >= 0 and known[at + 1 :] == rest and known[at].endswith(first):
                return known[at]
        return first

    def _folder(self, name: str) -> str:
        if name in ("", ".", ".."):
            return name
        return self._new("folder", name)

    def _file(self, name: str) -> str:
        if _A_PYTHON.fullmatch(name):
            return name
        stem, ending = PurePosixPath(name).stem, PurePosixPath(name).suffix
        if not name or ending not in _ENDINGS:
            return self._folder(name)
        return self._new("file", stem) + ending if not _MADE_BY_TORCH.fullmatch(stem) else name


def is_of_torch(path: object) -> bool:
    """Whether it is the whole path of a file of torch's, whose lines everybody can read."""
    if not isinstance(path, str) or not path.endswith(".py") or ".." in path:
        return False
    return any(mark in path for mark in _OF_TORCH)


def _public_path(path: str) -> str | None:
    """The path of a file in a public package, without the folders before it; None for other files."""
    if ".." in path:
        return None
    for mark in ("/site-packages/", "/dist-packages/"):
        inside = _IN_PACKAGES.fullmatch(path.rpartition(mark)[2]) if mark in path else None
        if inside and inside[1] in _PUBLIC_PACKAGES:
            return f"/python/lib/python3/site-packages/{inside[0]}"
    for ours in _OURS:
        _, mark, rest = path.rpartition(f"/{ours}/")
        if mark and _IN_PACKAGES.fullmatch(rest):
            return f"/python/lib/python3/site-packages/{ours}/{rest}"
    standard = _IN_LIBRARY.fullmatch(path.rpartition("/lib/python3.")[2])
    return f"/python/lib/python3.{standard[0]}" if standard and standard[1] in words() else None
