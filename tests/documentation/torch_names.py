"""Which of torch's names that we use differ between two versions: `./dev torch-names OLD NEW`.

OLD and NEW are folders that hold a `torch` (site-packages, or an unpacked wheel); none is imported. The names
come from imports, dotted names in code and strings, hooks, and from "Source: torch/….py (name)".
"""

import ast
import copy
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

CORE = Path(__file__).resolve().parents[2] / "core" / "dynamo_core"
_CITED = re.compile(r"(torch/[\w/]+)\.py\s+\(([^()]*)\)")
_DOTTED = re.compile(r"torch(?:\.\w+)+")
_HOOKED_PACKAGES = ("torch._dynamo", "torch._functorch", "torch._functorch._aot_autograd", "torch._inductor")
_DEEPEST_IMPORT = 5  # names that are imported from a module that imports them in turn

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr


@dataclass(frozen=True)
class Found:
    """A name of torch's: the module that defines it, and its definition (None for a module or an import)."""

    module: str
    definition: Definition | None

    @property
    def parameters(self) -> list[str]:
        """The parameters of a function, or of a class's `__init__`, in order and without types."""
        node: object = self.definition
        if isinstance(node, ast.ClassDef):
            node = next((each for each in node.body if getattr(each, "name", "") == "__init__"), None)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return []
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return [argument.arg for argument in arguments]

    @property
    def code(self) -> str:
        """What defines it, without comments, layout, docstrings and the types of parameters."""
        if self.definition is None:
            return ""
        definition = copy.deepcopy(self.definition)
        for node in ast.walk(definition):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    if ast.get_docstring(node) is not None:
                        del node.body[0]
                    node.returns = None  # type: ignore[union-attr]
                case ast.arg():
                    node.annotation = None
        return ast.dump(definition)


@dataclass
class _Names:
    """What a module or class binds: definitions, and what it imports from where."""

    defined: dict[str, Definition] = field(default_factory=dict)
    inner: dict[str, Definition] = field(default_factory=dict)  # methods, and functions in functions
    imported: dict[str, str] = field(default_factory=dict)


class Tree:
    """The sources of one version of torch, by dotted name."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "torch" / "version.py").exists():
            raise SystemExit(f"{folder}: has no torch/version.py; name a folder that holds a torch")
        self._folder = folder
        self._modules: dict[str, _Names] = {}

    @cached_property
    def version(self) -> str:
        text = (self._folder / "torch" / "version.py").read_text(encoding="utf-8")
        found = re.search(r"__version__ = '([^']*)'", text)
        return found[1] if found else "unknown"

    @cached_property
    def _defining_modules(self) -> dict[str, list[str]]:
        """The modules that define a function or class of that name, at their top or in a class."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted((self._folder / "torch").rglob("*.py")):
            text = path.read_text(encoding="utf-8", errors="replace")
            module = ".".join(path.relative_to(self._folder).with_suffix("").parts)
            for name in set(re.findall(r"^\s*(?:def|class) (\w+)", text, re.MULTILINE)):
                found[name].append(module)
        return found

    def module_of_stem(self, stem: str) -> str | None:
        """The module whose last part is `stem`, where the packages that we hook into have it once."""
        modules = [f"{package}.{stem}" for package in _HOOKED_PACKAGES]
        found = [module for module in modules if self._file(module) is not None]
        return found[0] if len(found) == 1 else None

    def elsewhere(self, name: str) -> list[str]:
        """Other modules that define what the last part of `name` says."""
        return self._defining_modules.get(name.rpartition(".")[2], [])

    def find(self, name: str, depth: int = 0) -> Found | None:
        """The definition of a dotted name; None where the sources do not show one."""
        parts = name.split(".")
        for count in range(len(parts), 0, -1):
            module = ".".join(parts[:count])
            if self._file(module) is not None:
                return self._member(module, parts[count:], depth)
        return None

    def _member(self, module: str, names: list[str], depth: int) -> Found | None:
        if not names:
            return Found(module, None)
        first, *rest = names
        scope = self._names(module)
        if first in scope.defined:
            definition = scope.defined[first]
            return self._attribute(module, definition, rest, depth) if rest else Found(module, definition)
        if first in scope.imported and depth < _DEEPEST_IMPORT:
            return self.find(".".join([scope.imported[first], *rest]), depth + 1)
        return Found(module, scope.inner[first]) if first in scope.inner and not rest else None

    def _attribute(self, module: str, of: Definition, names: list[str], depth: int) -> Found | None:
        """A member of a class, its own or of a base; an instance's type is not looked for."""
        if not isinstance(of, ast.ClassDef):
            return Found(module, of)
        first = names[0]
        if first in (own := _bound_in(of.body).defined | _attributes_of_self(of)):
            return Found(module, own[first])
        for base in map(ast.unparse, of.bases):
            found = (
                self._member(module, [*base.split("."), *names], depth + 1)
                if depth < _DEEPEST_IMPORT
                else None
            )
            if found is not None:
                return found
        return None

    def _file(self, module: str) -> Path | None:
        path = self._folder.joinpath(*module.split("."))
        files = (
            path.with_suffix(".py"),
            path / "__init__.py",
            path.with_suffix(".pyi"),
            path / "__init__.pyi",
        )
        return next((file for file in files if file.is_file()), None)

    def _names(self, module: str) -> _Names:
        if module not in self._modules:
            file = self._file(module)
            assert file is not None
            code = ast.parse(file.read_text(encoding="utf-8"))
            names = _bound_in(code.body)
            names.inner = {each.name: each for each in ast.walk(code) if isinstance(each, ast.FunctionDef)}
            package = module if file.stem == "__init__" else module.rpartition(".")[0]
            names.imported = {name: _absolute(source, package) for name, source in names.imported.items()}
            self._modules[module] = names
        return self._modules[module]


def _absolute(source: str, package: str) -> str:
    """A name without the dots of a relative import."""
    relative = source.lstrip(".")
    up = len(source) - len(relative)
    return source if not up else ".".join([*package.split(".")[: len(package.split(".")) - up + 1], relative])


def _bound_in(body: list[ast.stmt]) -> _Names:
    names = _Names()
    for node in _statements(body):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.defined.setdefault(node.name, node)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        names.defined.setdefault(target.id, value)
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.defined.setdefault(name, node.value or node.annotation)
            case ast.ImportFrom():
                source = "." * node.level + (node.module or "")
                joint = "" if source.endswith(".") else "."
                names.imported |= {
                    alias.asname or alias.name: f"{source}{joint}{alias.name}" for alias in node.names
                }
            case ast.Import():
                names.imported |= {alias.asname: alias.name for alias in node.names if alias.asname}
    return names


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module or class, also those below an `if`, `try` or `with`."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            inner = [*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
            inner += [each for handler in getattr(node, "handlers", []) for each in handler.body]
            yield from _statements(inner)


def _attributes_of_self(node: ast.ClassDef) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for each in ast.walk(node):
        match each:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                found.setdefault(name, each)
    return found


def names_used(tree: Tree, folder: Path = CORE) -> dict[str, set[str]]:
    """The dotted names of torch's that the modules below a folder use, and in which of the modules."""
    used: dict[str, set[str]] = defaultdict(set)
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for name in {*_names_in_code(ast.parse(text), tree), *_names_cited(text)}:
            used[name].add(str(path.relative_to(folder)))
    return used


def _names_cited(text: str) -> Iterator[str]:
    for path, names in _CITED.findall(
        " ".join(line.strip().removeprefix("# ") for line in text.splitlines())
    ):
        for name in names.split(","):
            if re.fullmatch(r"\w+(?:\.\w+)*", name.strip()):
                yield f"{path.replace('/', '.')}.{name.strip()}".replace(".__init__.", ".")


def _names_in_code(code: ast.Module, tree: Tree) -> Iterator[str]:
    bound = {"torch": "torch"}
    for node in ast.walk(code):
        match node:
            case ast.ImportFrom(module=str(module), level=0) if module.split(".")[0] == "torch":
                for alias in node.names:
                    bound[alias.asname or alias.name] = f"{module}.{alias.name}"
                    yield f"{module}.{alias.name}"
            case ast.Import():
                bound |= {
                    each.asname: each.name for each in node.names if each.asname and each.name[:5] == "torch"
                }
            case ast.Constant(value=str(text)) if _DOTTED.fullmatch(text):
                yield text
    for node in ast.walk(code):
        match node:
            case ast.Call(func=ast.Attribute(attr="hook"), args=[owner, ast.Constant(value=str(name)), *_]):
                if (of := _dotted(owner, bound, tree)) is not None:
                    yield f"{of}.{name}"
            case ast.Attribute():
                if (dotted := _dotted(node, bound, tree)) is not None:
                    yield dotted


def _dotted(node: ast.expr, bound: dict[str, str], tree: Tree) -> str | None:
    """`torch.a.b` for an expression; a parameter that is called like a module of torch's is that module."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    start = bound.get(node.id) or tree.module_of_stem(node.id)
    return ".".join([start, *reversed(names)]) if start else None


def differences(old: Tree, new: Tree, folder: Path = CORE) -> dict[str, list[str]]:
    """Under what has happened to them, the names that differ, each with where it is used."""
    found: dict[str, list[str]] = {"gone": [], "other parameters": [], "other code": []}
    for name, places in sorted(names_used(old, folder).items()):
        before, after = old.find(name), new.find(name)
        if before is None:
            continue
        text = f"{name}  ({', '.join(sorted(places))})"
        if after is None:
            now = new.elsewhere(name)
            found["gone"].append(f"{text}; defined in: {', '.join(now[:4]) or 'no module'}")
        elif before.parameters != after.parameters:
            found["other parameters"].append(f"{text}: {_changed(before.parameters, after.parameters)}")
        elif before.code != after.code:
            found["other code"].append(text)
    return found


def _changed(before: list[str], after: list[str]) -> str:
    lost = ", ".join(f"-{name}" for name in before if name not in after)
    gained = ", ".join(f"+{name}" for name in after if name not in before)
    return ", ".join(filter(None, (lost, gained))) or f"now in the order {', '.join(after)}"


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("usage: torch_names.py OLD NEW (folders that hold a torch)")
    old, new = (Tree(Path(folder)) for folder in sys.argv[1:])
    found = differences(old, new)
    print(
        f"torch {old.version} → {new.version}: "
        + ", ".join(f"{len(names)} {what}" for what, names in found.items())
    )
    for what, names in found.items():
        print(f"\n{what}:", *(f"  {name}" for name in names), sep="\n")


if __name__ == "__main__":
    main()
