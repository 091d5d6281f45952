"""What the package's source says about its names, read without running it: definitions, docstrings, signatures."""

import ast
import functools
import inspect
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "semibandits"


class Definition(NamedTuple):
    """A class, function or assignment, and its docstring: for an assignment, the string that follows it."""

    module: str
    name: str
    node: Any
    doc: str

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, ast.FunctionDef)

    @property
    def is_property(self) -> bool:
        return self.is_function and not {"property", "cached_property"}.isdisjoint(self.marks)

    @property
    def is_method(self) -> bool:
        return self.is_function and not self.is_property

    @property
    def marks(self) -> list[str]:
        """The decorators, without modules and arguments."""
        return [ast.unparse(mark).partition("(")[0].rpartition(".")[2] for mark in self.node.decorator_list]

    @property
    def has_fields(self) -> bool:
        """Whether the attributes of this class are the parameters of its constructor."""
        return "dataclass" in self.marks or any(ast.unparse(base) == "NamedTuple" for base in self.node.bases)


@functools.cache
def exists(module: str) -> bool:
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return False
    return spec is not None and spec.origin is not None


@functools.cache
def tree(module: str) -> ast.Module:
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None, module  # noqa: PT018
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


def definitions(module: str, body: list[ast.stmt]) -> Iterator[Definition]:
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield Definition(module, node.name, node, ast.get_docstring(node) or "")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            said = getattr(getattr(following, "value", None), "value", None) if isinstance(following, ast.Expr) else ""
            if isinstance(target, ast.Name):
                yield Definition(module, target.id, node, inspect.cleandoc(said) if isinstance(said, str) else "")


@functools.cache
def find(module: str, name: str) -> Definition | None:
    """What a name of a module stands for, through imports within the package; None for a module or a stranger."""
    for one in definitions(module, tree(module).body):
        if one.name == name:
            return one
    home, original = imports(module).get(name, ("", ""))
    return find(home, original) if home and not exists(f"{home}.{original}") else None


@functools.cache
def imports(module: str) -> dict[str, tuple[str, str]]:
    """What a module imports from the package: the module and the name it has there."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGE):
            found |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    return found


def public(module: str) -> list[str]:
    """The names of `__all__`, if written out; else what the module explains and does not hide, or imports as itself."""
    imported = []
    for node in tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = [name for name in ast.literal_eval(node.value) if find(module, name) is not None]
            return sorted(names, key=str.lower)
        if isinstance(node, ast.ImportFrom):
            imported += [alias.name for alias in node.names if alias.asname == alias.name]
    own = [one.name for one in definitions(module, tree(module).body) if one.doc and one.name[0] != "_"]
    return own + sorted(imported, key=str.lower)


def bases(one: Definition) -> list[Definition]:
    """The classes of the package that a class is made from, nearest first."""
    found: list[Definition] = []
    for base in one.node.bases:
        above = find(one.module, base.id) if isinstance(base, ast.Name) else None
        if above is not None and above.is_class:
            found += [above, *bases(above)]
    return list(dict.fromkeys(found))


def members(one: Definition) -> dict[str, Definition]:
    return {found.name: found for found in definitions(one.module, one.node.body) if found.name[0] != "_"}


def annotation(node: ast.expr | None) -> str:
    """As it is written, without the quotes of what is not known yet."""
    if node is None:
        return ""
    return str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def signature(one: Definition, *, method: bool = False) -> str:
    """Of a function, or of a class: its constructor's."""
    if one.is_class:
        return constructor(one)
    skipped = method and "staticmethod" not in one.marks
    returns = f" -> {annotation(one.node.returns)}" if one.node.returns else ""
    return f"({', '.join(parameters(one.node.args)[skipped:])}){returns}"


def parameters(args: ast.arguments) -> list[str]:
    shown = []
    plain = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(args.defaults)), *args.defaults]
    for at, (argument, default) in enumerate(zip(plain, defaults, strict=True)):
        shown += [parameter(argument.arg, argument.annotation, default)]
        shown += ["/"] if at + 1 == len(args.posonlyargs) else []
    if args.vararg:
        shown += ["*" + parameter(args.vararg.arg, args.vararg.annotation, None)]
    elif args.kwonlyargs:
        shown += ["*"]
    for argument, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        shown += [parameter(argument.arg, argument.annotation, default)]
    return shown + (["**" + parameter(args.kwarg.arg, args.kwarg.annotation, None)] if args.kwarg else [])


def parameter(name: str, kind: ast.expr | None, default: ast.expr | None) -> str:
    typed = f"{name}: {annotation(kind)}" if kind else name
    if default is None:
        return typed
    value = "..." if isinstance(default, ast.Call) else ast.unparse(default)
    return f"{typed} = {value}"


def constructor(one: Definition) -> str:
    family = [one, *bases(one)]
    if any(ancestor.has_fields for ancestor in family):
        fields = {}
        for ancestor in reversed([ancestor for ancestor in family if ancestor.has_fields]):
            for name, found in members(ancestor).items():
                if isinstance(found.node, ast.AnnAssign) and "ClassVar" not in annotation(found.node.annotation):
                    fields[name] = parameter(name, found.node.annotation, found.node.value)
        return f"({', '.join(fields.values())})"
    for ancestor in family:
        for found in definitions(ancestor.module, ancestor.node.body):
            if found.name == "__init__":
                return signature(found._replace(node=_without_returns(found.node)), method=True)
    return ""


def _without_returns(node: ast.FunctionDef) -> ast.FunctionDef:
    return ast.FunctionDef(node.name, node.args, node.body, node.decorator_list)
