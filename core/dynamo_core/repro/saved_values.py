"""Values of the program's own, for the file that `dynamo repro --values` makes.

The engine has written the arguments of a graph's call. What the graph's statements make of them in plain
Python is worked out once and kept, so that each value may become an input of a smaller graph.
"""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..model import TensorInfo
from ..shared.errors import NothingSelected
from .graph_program import GraphProgram, Input, saved_value
from .trials import Trials

_BESIDE = 'torch.load(__file__ + ".pt")'
_MOST_WRITTEN = 32  # elements of a tensor that stands in the text


def with_values(
    program: GraphProgram, arguments: Sequence[str], inputs: Path, folder: Path, trials: Trials
) -> GraphProgram:
    """The program with the arguments of a call, by their names, from the file `inputs`.

    They are kept in `folder`, with each value that the graph makes of them. NothingSelected says why not.
    """
    kept = folder / f"values-{inputs.name}"
    lines = [_keep(name) for name in arguments]
    for each in program.statements:
        lines += [each.text, *map(_keep, sorted(each.binds))]
    text = _KEEPING.format(
        imports="\n".join(program.imports()),
        names=", ".join(arguments),
        body=textwrap.indent("\n".join(lines), "    "),
        inputs=str(inputs),
        kept=str(kept),
    )
    known = _asked(trials, kept, text)
    inputs_given = tuple(_given(each, known.get(each.name)) for each in program.inputs)
    if not any(each.saved for each in inputs_given):
        raise NothingSelected("no value of the call could be kept")
    return replace(
        program,
        inputs=inputs_given,
        values={name: _as_it_is(each, known.get(name)) for name, each in program.values.items()},
        saved=frozenset(program.values.keys() & known.keys()),
        load=f"torch.load({str(kept)!r}, mmap=True)",
    )


def _given(each: Input, value: Any) -> Input:
    """The input with what is known of its value: the number, or the shape and strides of the tensor."""
    if value is None:
        return each
    if each.tensor is None:
        return replace(each, number=repr(value))
    return replace(each, tensor=_as_it_is(each.tensor, value), saved=saved_value(each.name))


def _keep(name: str) -> str:
    return f"repro_keep({name!r}, {name})"


def written_out(program: GraphProgram, target: Path, trials: Trials) -> tuple[GraphProgram, bool]:
    """The program with small values in its text, and whether others are left, which go to the file `target`.

    NothingSelected says why they could not be written.
    """
    expressions = {each.name: each.saved for each in program.inputs if each.saved}
    inputs = ", ".join(f"{name!r}: {text}" for name, text in expressions.items())
    writing = _WRITING.format(load=program.load, inputs=inputs, most=_MOST_WRITTEN, target=str(target))
    texts = _asked(trials, target, writing)
    changed = [
        replace(each, saved=texts.get(each.name) or saved_value(each.name)) if each.saved else each
        for each in program.inputs
    ]
    return replace(program, inputs=tuple(changed), load=_BESIDE), len(texts) < len(expressions)


def beside(text: str, values: str | None) -> str:
    """The text of a finished program for a trial, which has no file beside it."""
    return text if values is None else text.replace(_BESIDE, f"torch.load({values!r})")


def _asked(trials: Trials, file: Path, text: str) -> dict[str, Any]:
    """What a program writes beside `file` as JSON."""
    ended = trials.outcome(text, plain=True)
    try:
        found: dict[str, Any] = json.loads(Path(f"{file}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        reason = ended.get("message") or ended["ending"]
        raise NothingSelected(f"the program's own values could not be read: {reason}") from None
    return found


def _as_it_is(tensor: TensorInfo, value: Any) -> TensorInfo:
    """The tensor with the shape and strides of its value; unchanged where that is not known."""
    if value is None:
        return tensor
    return replace(tensor, shape=tuple(value["shape"]), stride=tuple(value["stride"]))


_KEEPING = """{imports}
import json

repro_values, repro_known, repro_left = {{}}, {{}}, 1 << 30


def repro_keep(name, value):
    global repro_left
    if isinstance(value, (int, float)):
        repro_known[name] = value
    if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout is not torch.strided:
        return
    value = value.detach().resolve_conj().resolve_neg()
    repro_left -= value.untyped_storage().nbytes()
    if repro_left < 0:
        return
    place = value.storage_offset(), value.size(), value.stride()
    copy = torch.empty(0, dtype=value.dtype, device=value.device)
    repro_values[name] = copy.set_(value.untyped_storage().clone(), *place)
    repro_known[name] = {{"shape": list(value.size()), "stride": list(value.stride())}}


def repro_graph({names}):
{body}

try:
    repro_graph(*torch.load({inputs!r}))
except Exception:
    pass  # what came before is kept
torch.save(repro_values, {kept!r})
with open({kept!r} + ".json", "w") as file:
    json.dump(repro_known, file)
"""
_WRITING = """import json
import re
import torch

saved = {load}
texts, others = {{}}, {{}}
for name, value in {{{inputs}}}.items():
    dtype, device = "", ""
    if value.dtype not in (torch.float32, torch.int64, torch.bool):
        dtype = f", dtype={{value.dtype}}"
    if value.device.type != "cpu":
        device = f", device={{str(value.device)!r}}"
    if value.numel() <= {most} and value.is_contiguous() and not value.is_complex():
        numbers = re.sub("nan|inf", lambda found: f"float({{found[0]!r}})", str(value.tolist()))
        texts[name] = f"torch.tensor({{numbers}}{{dtype}}{{device}})"
    else:
        others[name] = value.clone() if value.is_contiguous() else value
if others:
    torch.save(others, {target!r})
with open({target!r} + ".json", "w") as file:
    json.dump(texts, file)
"""
