"""The rules of the house: imports run one way, public names are what they seem, files are short."""

import ast
import json
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import clearhead

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "clearhead"

# A stage imports from itself and from those before it; training stands on model, beside the rest.
STAGES = ["errors", "inputs", "_native", "core", "layer", "model", "record", "view"]
BELOW = {stage: STAGES[: STAGES.index(stage) + 1] for stage in STAGES}
BELOW["training"] = [*BELOW["model"], "training"]
BELOW["cli"] = [*STAGES, "training", "cli", ""]
THE_OTHER_WAY = {("record/record.py", "clearhead.view.terminal")}  # Record.show, when called
ONLY_LAZILY = {
    "torch", "transformers", "matplotlib", "starlette", "uvicorn", "sacrebleu", "sacremoses",
}  # fmt: skip


def stage_of(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def sources(*skip):
    files = sorted(SOURCE.rglob("*.py"))
    return [
        f for f in files if f.parent != SOURCE or f.name == "errors.py" if stage_of(f) not in skip
    ]


def imported(nodes):
    """The dotted names that import statements among the nodes bring in."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are written from the root"
            if node.module == "clearhead":
                yield from (f"clearhead.{alias.name}" for alias in node.names)
            else:
                yield node.module


def imported_by_name(nodes):
    """What ``import_module("...")`` brings in; of an f-string, its beginning."""
    for node in nodes:
        called = getattr(node, "func", None)
        if getattr(called, "id", getattr(called, "attr", "")) in ("import_module", "__import__"):
            name = node.args[0]
            if isinstance(name, ast.JoinedStr):
                name = name.values[0]
            assert isinstance(name, ast.Constant), (
                f"line {node.lineno}: the name must begin with letters, not with a variable"
            )
            yield name.value


@pytest.mark.parametrize("path", sources("data"), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_run_one_way(path):
    nodes = list(ast.walk(ast.parse(path.read_text())))
    place = path.relative_to(SOURCE).as_posix()
    for name in [*imported(nodes), *imported_by_name(nodes)]:
        package, _, rest = name.partition(".")
        if package == "clearhead" and (place, name) not in THE_OTHER_WAY:
            assert rest.split(".")[0] in [*BELOW[stage_of(path)], "data"], f"{path} imports {name}"


def test_exceptions_are_still_needed():
    for place, name in THE_OTHER_WAY:
        assert name in imported(ast.walk(ast.parse((SOURCE / place).read_text())))


@pytest.mark.parametrize(("code", "names"), [
    ('import_module("clearhead.view.terminal")', ["clearhead.view.terminal"]),
    ('importlib.import_module(f"clearhead.cli.{name}")', ["clearhead.cli."]),
    ('__import__("clearhead.cli")', ["clearhead.cli"]),
    ("print(1)", []),
])  # fmt: skip
def test_imports_by_name_are_seen(code, names):
    assert list(imported_by_name(ast.walk(ast.parse(code)))) == names


def test_an_import_that_cannot_be_read_is_refused():
    with pytest.raises(AssertionError, match="line 1: the name must begin with letters"):
        list(imported_by_name(ast.walk(ast.parse("import_module(name)"))))


@pytest.mark.parametrize("path", sources("data"), ids=lambda p: str(p.relative_to(SOURCE)))
def test_optional_libraries_are_imported_inside_functions(path):
    """But for training and the bridge to torch, which are themselves imported inside functions."""
    names = set(imported(ast.parse(path.read_text()).body))
    with_torch = path.name == "torch_bridge.py" or stage_of(path) == "training"
    if not with_torch:
        assert not {name.partition(".")[0] for name in names} & ONLY_LAZILY
        assert not any(n.startswith(("clearhead.training", "clearhead.core.torch_")) for n in names)


def in_a_fresh_process(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_no_optional_library_is_imported():
    """Neither by `import clearhead` nor by any public name."""
    code = "import clearhead, json, sys; {}; print(json.dumps(sorted(sys.modules)))"
    for use in ("pass", "[getattr(clearhead, name) for name in clearhead.__all__]"):
        loaded = in_a_fresh_process(code.format(use))
        assert not {name.partition(".")[0] for name in loaded} & ONLY_LAZILY


def test_all_is_what_is_visible():
    assert [name for name in dir(clearhead) if not name.startswith("_")] == sorted(
        clearhead.__all__
    )


def test_the_tree_of_errors_needs_no_import_of_its_own():
    code = "import clearhead, json; print(json.dumps(clearhead.errors.ShapeError.__name__))"
    assert in_a_fresh_process(code) == "ShapeError"


def modules():
    found = pkgutil.walk_packages(clearhead.__path__, "clearhead.")
    return [m.name for m in found if not m.name.endswith("__main__")]


def test_no_module_hides_a_public_name():
    code = """if True:
        import importlib, json, types, clearhead
        for module in {}:
            importlib.import_module(module)
        hidden = [n for n in clearhead.__all__
                  if isinstance(getattr(clearhead, n), types.ModuleType)]
        print(json.dumps(hidden))
    """
    assert in_a_fresh_process(code.format(modules())) == []


@pytest.mark.parametrize("name", modules())
def test_every_module_says_what_it_offers(name):
    module = import_module(name)
    path = Path(module.__file__)
    if path.name == "__init__.py" or name == "clearhead._native":
        return
    for public in module.__all__:
        assert hasattr(module, public)


def test_type_checkers_see_the_same_homes():
    """The imports for type checkers and the table for the running program agree."""
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    seen = {
        a.name: n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names
    }
    assert seen.pop("errors") == "clearhead"  # a module
    del seen["annotations"]
    assert sorted(seen) == sorted(clearhead.__all__)
    assert seen == {name: f"clearhead.{home}" for name, home in clearhead._home.items()}


@pytest.mark.parametrize(("path", "name"), [
    ("core/fused.py", "attention"), ("layer/multihead.py", "__call__"),
])  # fmt: skip
def test_type_checkers_know_that_who_observes_gets_a_pair(path, name):
    returned = {}
    for node in ast.walk(ast.parse((SOURCE / path).read_text())):
        if isinstance(node, ast.FunctionDef) and node.name == name and node.decorator_list:
            assert ast.unparse(node.decorator_list[0]) == "overload"
            asked = next(a for a in node.args.kwonlyargs if a.arg == "observe")
            returned[ast.unparse(asked.annotation)] = ast.unparse(node.returns)
    assert returned == {"None": "Array", "Observe": "tuple[Array, Observation]"}


def test_versions_agree():
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert version[1] == clearhead.__version__
    assert f"\n## {version[1]} " in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("folder", ["src", "native", "tests", "benchmarks"])
def test_files_are_read_in_one_sitting(folder):
    code = [f for f in (ROOT / folder).rglob("*") if f.suffix in {".py", ".h", ".cpp"}]
    lengths = {str(f.relative_to(ROOT)): len(f.read_text().splitlines()) for f in code}
    assert {name: n for name, n in lengths.items() if n > 300} == {}
