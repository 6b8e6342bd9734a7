"""Spack's recipe says what the build has. Spack itself is not there: what it gives to a recipe is stood in for."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from synthetic import REPOSITORY

RECIPE = REPOSITORY / "packaging" / "spack" / "packages" / "hipscope" / "package.py"
MADE = {
    "+rocm": ("amd", "HIPSCOPE_AMD_TARGETS=gfx942"),
    "+cuda": ("nvidia", "CMAKE_CUDA_ARCHITECTURES=90"),
    "": ("host", "HIPSCOPE_TESTS=False"),
}
VARIANTS = {"amdgpu_target": SimpleNamespace(value="gfx942"), "cuda_arch": SimpleNamespace(value="90")}


class CMakePackage:
    """As Spack's packages by CMake, for a spec with one GPU variant, or none."""

    def __init__(self, gpu: str) -> None:
        self.spec = SimpleNamespace(satisfies=lambda what: what == gpu, variants=VARIANTS)

    def define(self, option: str, value: Any) -> str:
        return f"-D{option}={value}"

    define_from_variant = define


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> None:
    """A module of this name, and empty ones around it."""
    parts = name.split(".")
    for length in range(1, len(parts)):
        monkeypatch.setitem(sys.modules, ".".join(parts[:length]), ModuleType(parts[length - 1]))
    module = ModuleType(name)
    module.__dict__.update(content)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture(name="recipe", params=["0.23", "1.0"])
def read_recipe(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The recipe's class, and the packages that it depends on, as each of these Spacks reads it."""
    depends_on: list[str] = []
    directives = dict.fromkeys(("version", "variant", "conflicts"), lambda *_, **__: None)
    directives["depends_on"] = lambda what, **_: depends_on.append(what)
    directives["when"] = lambda _: contextlib.nullcontext()
    bases = {"CMakePackage": CMakePackage, "CudaPackage": type("Cuda", (), {}), "ROCmPackage": type("ROCm", (), {})}
    stand_in(monkeypatch, "spack.package", **directives, **(bases if request.param == "0.23" else {}))
    for name, package in bases.items() if request.param == "1.0" else ():
        system = name.removesuffix("Package").lower()
        stand_in(monkeypatch, f"spack_repo.builtin.build_systems.{system}", **{name: package})
    names: dict[str, Any] = {}
    exec(compile(RECIPE.read_text(encoding="utf-8"), RECIPE, "exec"), names)
    return SimpleNamespace(package=names["Hipscope"], depends_on=depends_on)


def build_files() -> str:
    files = [REPOSITORY / "CMakeLists.txt", *Path(REPOSITORY / "cmake").glob("*.cmake")]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("gpu", MADE)
def test_the_options_are_those_of_the_build(recipe: Any, gpu: str) -> None:
    backend, wanted = MADE[gpu]
    arguments = recipe.package(gpu).cmake_args()
    assert f"-DHIPSCOPE_BACKEND={backend}" in arguments
    assert f"-D{wanted}" in arguments
    options = set(re.findall(r"(?:option|set)\((HIPSCOPE_\w+)", build_files()))
    for argument in arguments:
        name = re.fullmatch(r"-D(\w+)=.*", argument)
        assert name and (name[1] in options or name[1].startswith("CMAKE_")), argument


def test_the_command_is_found_where_it_is_installed(recipe: Any) -> None:
    package, added = recipe.package(""), []
    package.prefix = "/prefix"
    package.setup_run_environment(SimpleNamespace(prepend_path=lambda *what: added.append(what)))
    assert added == [("PATH", "/prefix")] and "install(PROGRAMS hipscope DESTINATION .)" in build_files()


def test_it_depends_on_what_the_build_looks_for(recipe: Any) -> None:
    libraries = re.findall(r"hipscope_need_library\((\w+) PACKAGE", build_files())
    asked = {what.split("@")[0].split()[0].replace("-", "_") for what in recipe.depends_on}
    assert set(libraries) - {"googletest"} <= asked  # which the tests alone need
    minimum = re.search(r"cmake_minimum_required\(VERSION (\S+)\)", build_files())
    assert minimum and f"cmake@{minimum[1]}:" in recipe.depends_on
