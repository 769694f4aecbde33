"""Documents are run, so they cannot rot; and every public name is on the page of its stage."""

import doctest
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import clearhead
from clearhead.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
STAGES = ["inputs", "core", "layer", "model", "record", "view", "cli", "training"]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules(package):
    found = pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
    return [m.name for m in found if not m.name.endswith("__main__")]


@pytest.mark.parametrize("stage", STAGES)
def test_every_public_name_is_on_the_page_of_its_stage(stage):
    page = (ROOT / "docs" / f"{stage}.md").read_text()
    known = set(re.findall(r"[A-Za-z_]\w*", page))
    for module in modules(f"clearhead.{stage}"):
        missing = set(import_module(module).__all__) - known
        assert not missing, f"docs/{stage}.md says nothing of {sorted(missing)} in {module}"


def test_every_name_of_the_front_page_is_documented():
    known = set(re.findall(r"[A-Za-z_]\w*", "".join(page.read_text() for page in PAGES)))
    assert set(clearhead.__all__) <= known


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_on_its_page(name):
    page = (ROOT / "docs" / "cli.md").read_text()
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    told = set(re.findall(r"--[a-z-]+", page if section is None else section[1]))
    command = import_module(f"clearhead.cli.{name}").command
    asked = {o for p in command.params for o in (*p.opts, *p.secondary_opts) if o.startswith("--")}
    assert asked <= told


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_code_on_a_page_runs(page, tmp_path, monkeypatch):
    """The Python blocks of a page, in order, in one namespace."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        if block.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
            doctest.DebugRunner(optionflags=OPTIONS).run(test, clear_globs=False)
            names.update(test.globs)
        else:
            exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("module", ["clearhead", *modules("clearhead")])
def test_examples_in_docstrings_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(import_module(module), optionflags=OPTIONS).failed == 0


def test_the_map_of_the_house_shows_what_is_there():
    """Every path in CONTRIBUTING.md exists, and every name in brackets behind one is in it."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    roots = [ROOT, ROOT / "src" / "clearhead", ROOT / "native" / "kernels"]
    paths = set(re.findall(r"`([\w./]+(?:/|\.(?:py|h|cpp|md)))`", page))
    found = {path: [root / path for root in roots if (root / path).exists()] for path in paths}
    assert [path for path, places in found.items() if not places] == []
    for path, name in re.findall(r"`([\w./]+\.\w+)` \(`(\w+)`", page):
        assert name in found[path][0].read_text(), f"{path} has no {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
