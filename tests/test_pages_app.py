"""The router: which pages there are, at which addresses, and what none of them may do."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import streamlit as st

from tests.page_app import Visit

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
CALLS = [
    node
    for node in ast.walk(ast.parse((ROOT / "app.py").read_text(encoding="utf-8")))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
]


def calls(name: str) -> list[ast.Call]:
    found = [node for node in CALLS if isinstance(node.func, ast.Attribute)]
    return [node for node in found if node.func.attr == name]  # type: ignore[attr-defined]


def keyword(call: ast.Call, name: str) -> str:
    value = next(pair.value for pair in call.keywords if pair.arg == name)
    assert isinstance(value, ast.Constant)
    return str(value.value)


def file_of(call: ast.Call) -> Path:
    assert isinstance(call.args[0], ast.Constant)
    return Path(str(call.args[0].value))


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch).with_samples()
    st.cache_resource.clear()


def test_every_page_file_is_listed_and_no_other() -> None:
    assert sorted(file_of(call).stem for call in calls("Page")) == PAGES


def test_no_address_equals_the_name_of_its_file() -> None:
    # With equal names a fresh server runs the page without app.py.
    addresses = {file_of(call).stem: keyword(call, "url_path") for call in calls("Page")}
    contract = {"run_page": "run", "guide_page": "guide", "recordings_page": "recordings"}
    assert contract.items() <= addresses.items()
    assert not set(addresses) & set(addresses.values())


def test_icon_is_set_before_the_pages_are_named() -> None:
    # Otherwise a Material icon is the favicon, and the browser fetches it from another host.
    order = sorted(calls("set_page_config") + calls("navigation"), key=lambda call: call.lineno)
    first = order[0]
    assert isinstance(first.func, ast.Attribute)
    assert first.func.attr == "set_page_config"
    assert not keyword(first, "page_icon").startswith(":")


@pytest.mark.parametrize("page", PAGES)
def test_page_opens_with_one_title(visit: Visit, page: str) -> None:
    app = visit.open(page)
    assert len(app.title) == 1


# In a process of its own: another test may have imported torch in this one.
NO_TORCH = """
import pathlib, sys
import pytest
from tests.page_app import Visit

with pytest.MonkeyPatch.context() as patch:
    visit = Visit(pathlib.Path(sys.argv[1]), patch).with_samples()
    visit.open(run="h200-matmul-add-64")
    assert visit.app.get("vega_lite_chart")
    for page in sys.argv[2:]:
        visit.app.switch_page(f"pages/{page}.py").run()
        visit.is_well()
print("torch" in sys.modules)
"""


def test_no_page_imports_torch(tmp_path: Path) -> None:
    command = [sys.executable, "-c", NO_TORCH, str(tmp_path), *PAGES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False"], done.stderr


def test_settings_are_safe_and_quiet() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["address"] == "127.0.0.1"
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["runner"]["magicEnabled"] is False
    assert settings["client"]["showErrorDetails"] == "none"
    assert len(settings["theme"]["light"]["chartCategoricalColors"]) == 5
    assert len(settings["theme"]["dark"]["chartCategoricalColors"]) == 5
