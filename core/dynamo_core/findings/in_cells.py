"""Remedies in cells of a notebook: torch's settings, where variables of the environment come too late."""

from dataclasses import replace

from ..remedies.this_run import in_cell, is_of_cell
from .actions import Action
from .finding import Finding, Remedy


def finding_in_cell(finding: Finding) -> Finding:
    """The finding, with what a cell can do in place of variables of the environment."""
    if not is_of_cell(finding.place):
        return finding
    return replace(finding, remedies=tuple(map(_in_cell, finding.remedies)))


def action_in_cell(action: Action, cured: Finding) -> Action:
    """The action, whose first finding is `cured`, with what a cell can do in place of such variables."""
    if not is_of_cell(cured.place):
        return action
    others = (replace(each, remedy=_in_cell(each.remedy)) for each in action.alternatives)
    remedy = None if action.remedy is None else _in_cell(action.remedy)
    return replace(action, remedy=remedy, alternatives=tuple(others))


def _in_cell(remedy: Remedy) -> Remedy:
    changed = in_cell(remedy)
    return remedy if changed is remedy else replace(changed, kind="setting")
