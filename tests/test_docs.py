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
OTHERS = ("CHANGELOG.md", "corpus/README.md", "native/README.md", "src/clearhead/data/*/README.md")
LINKED = [*PAGES, *(page for pattern in OTHERS for page in sorted(ROOT.glob(pattern)))]
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


WHERE = {
    "CONTRIBUTING.md": (".", "src/clearhead", "native/kernels"),
    "native/README.md": ("native", "native/kernels", "."),
}
"""Pages that name files, and the folders in which their paths begin."""


@pytest.mark.parametrize("page", WHERE)
def test_files_and_names_told_to_builders_are_there(page):
    """`path` exists; of `path` (`name`, `other`) and `path: name` the names are in the file."""
    text = (ROOT / page).read_text()

    def find(path):
        places = [ROOT / root / path for root in WHERE[page] if (ROOT / root / path).exists()]
        assert places, f"{page} tells of {path}, which is not there"
        return places[0]

    for path in re.findall(r"`([\w./]+(?:/|\.(?:py|h|cpp|md|txt|json))|scripts/\w+)[`:]", text):
        find(path)
    for path, inside in re.findall(r"`([\w./]+\.\w+)` \(((?:`\w+`[^`)]*)+)\)", text):
        for name in re.findall(r"`(\w+)`", inside):
            assert name in find(path).read_text(), f"{page}: {path} has no {name}"
    for path, name in re.findall(r"`([\w./]+\.\w+): (\w+)`", text):
        assert name in find(path).read_text(), f"{page}: {path} has no {name}"


@pytest.mark.parametrize("page", LINKED, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page} links to {target}"
