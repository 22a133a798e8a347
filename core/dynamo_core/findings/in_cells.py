"""Remedies in cells of a notebook: torch's settings, where variables of the environment come too late.

Source: torch/_dynamo/config.py and torch/compiler/config.py, which read each variable when they are imported.
"""

from dataclasses import replace

from ..analysis.source_lines import CELL
from ..remedies.rules import Assignment, Change
from .actions import Action
from .finding import Finding, Remedy

_SETTINGS = {
    "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS": "torch._dynamo.config.capture_scalar_outputs",
    "TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS": "torch._dynamo.config.capture_dynamic_output_shape_ops",
    "TORCH_COMPILE_DYNAMIC_SOURCES": "torch.compiler.config.dynamic_sources",
    "TORCH_COMPILE_UNBACKED_SOURCES": "torch.compiler.config.unbacked_sources",
}


def is_in_cell(finding: Finding) -> bool:
    """Whether its line is in a cell of a notebook."""
    return finding.place is not None and finding.place.file.startswith(CELL)


def finding_in_cell(finding: Finding) -> Finding:
    """The finding, with what a cell can do in place of variables of the environment."""
    if not is_in_cell(finding):
        return finding
    return replace(finding, remedies=tuple(map(_in_cell, finding.remedies)))


def action_in_cell(action: Action, cured: Finding) -> Action:
    """The action, whose first finding is `cured`, with what a cell can do in place of such variables."""
    if not is_in_cell(cured):
        return action
    others = (replace(each, remedy=_in_cell(each.remedy)) for each in action.alternatives)
    remedy = None if action.remedy is None else _in_cell(action.remedy)
    return replace(action, remedy=remedy, alternatives=tuple(others))


def _in_cell(remedy: Remedy) -> Remedy:
    variables = () if remedy.change is None else remedy.change.environment
    if not variables:
        return remedy
    settings = tuple(
        Assignment(_SETTINGS[each.name], "True" if each.value == "1" else repr(each.value))
        for each in variables
    )
    typed = "; ".join(f"{each.name} = {each.value}" for each in settings)
    text = f"run `{typed}` in a cell, before the first call of what is compiled."
    return replace(remedy, kind="setting", text=text, change=Change(settings=settings))
