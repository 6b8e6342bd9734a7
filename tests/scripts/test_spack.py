"""Spack's recipe says what the build has. Spack itself is not there: what it gives to a recipe is stood in for."""

from __future__ import annotations

import contextlib
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from synthetic import REPOSITORY

RECIPE = REPOSITORY / "packaging" / "spack" / "packages" / "hipscope" / "package.py"
MADE = {
    "+rocm": ("amd", "HIPSCOPE_AMD_TARGETS=gfx942"),
    "+cuda": ("nvidia", "CMAKE_CUDA_ARCHITECTURES=90"),
    "": ("host", "HIPSCOPE_TESTS=False"),
}


class Spec:
    """A spec with one GPU variant, or none."""

    def __init__(self, gpu: str) -> None:
        self._gpu = gpu
        self.variants = {
            "amdgpu_target": types.SimpleNamespace(value="gfx942"),
            "cuda_arch": types.SimpleNamespace(value="90"),
        }

    def satisfies(self, what: str) -> bool:
        return what == self._gpu


class Package:
    """As Spack's packages by CMake, for one spec."""

    def __init__(self, gpu: str) -> None:
        self.spec = Spec(gpu)

    @staticmethod
    def define(option: str, value: Any) -> str:
        return f"-D{option}={value}"

    def define_from_variant(self, option: str, variant: str) -> str:
        return self.define(option, variant)


@pytest.fixture(name="recipe", params=["0.23", "1.0"])
def read_recipe(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The recipe's class, its versions and the packages that it depends on, as each of these Spacks reads it."""
    said: dict[str, list[str]] = {"version": [], "variant": [], "depends_on": [], "conflicts": []}
    spack = types.ModuleType("spack.package")
    for name, calls in said.items():
        setattr(spack, name, lambda what, *_, calls=calls, **__: calls.append(what))

    @contextlib.contextmanager
    def when(_: str) -> Iterator[None]:
        yield

    bases = {
        name: type(name, (Package,) if name == "CMakePackage" else (), {})
        for name in ("CMakePackage", "CudaPackage", "ROCmPackage")
    }
    spack.__dict__.update(when=when)
    if request.param == "0.23":
        spack.__dict__.update(bases)
    else:
        build_systems = "spack_repo.builtin.build_systems"
        for name in ("spack_repo", "spack_repo.builtin", build_systems):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        for name, package in bases.items():
            module = types.ModuleType(name)
            setattr(module, name, package)
            monkeypatch.setitem(sys.modules, f"{build_systems}.{name.removesuffix('Package').lower()}", module)
    monkeypatch.setitem(sys.modules, "spack", types.ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", spack)
    names: dict[str, Any] = {}
    exec(compile(RECIPE.read_text(encoding="utf-8"), RECIPE, "exec"), names)
    return types.SimpleNamespace(package=names["Hipscope"], **said)


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
    package.setup_run_environment(types.SimpleNamespace(prepend_path=lambda *what: added.append(what)))
    assert added == [("PATH", "/prefix")] and "install(PROGRAMS hipscope DESTINATION .)" in build_files()


def test_it_depends_on_what_the_build_looks_for(recipe: Any) -> None:
    libraries = re.findall(r"hipscope_need_library\((\w+) PACKAGE", build_files())
    asked = {what.split("@")[0].split()[0].replace("-", "_") for what in recipe.depends_on}
    assert set(libraries) - {"googletest"} <= asked  # which the tests alone need
    minimum = re.search(r"cmake_minimum_required\(VERSION (\S+)\)", build_files())
    assert minimum and f"cmake@{minimum[1]}:" in recipe.depends_on
