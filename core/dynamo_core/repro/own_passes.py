"""The passes over Inductor's graphs that a program registers itself, and the program without them.

Source: torch/_inductor/config.py; 2.13.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

_SETTINGS = {
    "pre_grad_custom_pass",
    "joint_custom_pre_pass",
    "joint_custom_post_pass",
    "post_grad_custom_pre_pass",
    "post_grad_custom_post_pass",
    "_pre_fusion_custom_pass",
    "_post_fusion_custom_pass",
}


class OwnPass(NamedTuple):
    """A pass of the program's own, as its line has it."""

    setting: str
    name: str
    line: int


def without_own_passes(text: str) -> tuple[str, tuple[OwnPass, ...]]:
    """The text with None in place of each pass that it registers, and those passes, in order."""
    found = sorted(_registered(ast.parse(text)), key=lambda each: each[1].lineno)
    lines = text.encode().splitlines(keepends=True)
    passes = []
    for setting, value in found:
        name = ast.unparse(value.func if isinstance(value, ast.Call) else value)
        passes.append(OwnPass(setting, name, value.lineno))
    for _, value in reversed(found):
        first, last = value.lineno - 1, (value.end_lineno or value.lineno) - 1
        before, behind = lines[first][: value.col_offset], lines[last][value.end_col_offset :]
        lines[first : last + 1] = [before + b"None" + behind]
    return b"".join(lines).decode(), tuple(passes)


def _registered(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Each setting of a pass with what it is set to, in an assignment, by a name or in a dictionary."""
    for node in ast.walk(tree):
        pairs: list[tuple[object, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [
                (target.attr, node.value) for target in node.targets if isinstance(target, ast.Attribute)
            ]
        elif isinstance(node, ast.keyword):
            pairs = [(node.arg, node.value)]
        elif isinstance(node, ast.Dict):
            keys = (key.value if isinstance(key, ast.Constant) else None for key in node.keys)
            pairs = [*zip(keys, node.values, strict=True)]
        for setting, value in pairs:
            if isinstance(setting, str) and setting in _SETTINGS and not isinstance(value, ast.Constant):
                yield setting, value
