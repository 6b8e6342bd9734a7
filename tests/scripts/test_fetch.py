"""cmake/fetch.cmake: libraries that are not installed, from archives made here."""

from __future__ import annotations

import hashlib
import re
import tarfile
from pathlib import Path

import pytest
import synthetic
from conftest import Done, call

# A project with two libraries that no machine has.
PROJECT = """cmake_minimum_required(VERSION 3.24)
project(user LANGUAGES NONE)
include({fetch})
hipscope_need_library(no_such_lib PACKAGE no_such_lib DEBIAN libnosuch-dev URL {url} SHA256 {archive_hash})
hipscope_need_library(no_such_header HEADER nosuch/one.h DEBIAN libone-dev URL {header_url} SHA256 {header_hash})
hipscope_get_libraries()
file(READ ${{no_such_lib_SOURCE_DIR}}/include/two.h two)
file(READ ${{no_such_header_INCLUDE}}/nosuch/one.h one)
message(STATUS "read: ${{one}} ${{two}}")
"""


class User:
    """A folder with the archives' `origin`, the project that needs them, and its build folder."""

    def __init__(self, folder: Path) -> None:
        self.origin = folder / "origin"
        self.origin.mkdir()
        sources = folder / "no_such_lib-1.0" / "include"
        sources.mkdir(parents=True)
        (sources / "two.h").write_text("two")
        # Its own build is not run: that would end everything here.
        (sources.parent / "CMakeLists.txt").write_text("message(FATAL_ERROR ran)\n")
        self.sources = sources.parent
        with tarfile.open(self.origin / "v1.0.tar.gz", "w:gz") as archive:
            archive.add(self.sources, arcname="no_such_lib-1.0")
        (self.origin / "one.h").write_text("one")
        self.folder = folder
        self.write()

    def write(self, archive_hash: str = "") -> None:
        def sha256(path: Path) -> str:
            return hashlib.sha256(path.read_bytes()).hexdigest()

        archive, header = self.origin / "v1.0.tar.gz", self.origin / "one.h"
        (self.folder / "CMakeLists.txt").write_text(
            PROJECT.format(
                fetch=synthetic.REPOSITORY / "cmake" / "fetch.cmake",
                url=archive.as_uri(),
                header_url=header.as_uri(),
                archive_hash=archive_hash or sha256(archive),
                header_hash=sha256(header),
            )
        )

    def configure(self, *options: str, status: int = 0) -> Done:
        return call("cmake", "-G", "Ninja", "-S", self.folder, "-B", self.folder / "build", *options, status=status)


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_what_is_missing_is_downloaded_once(user: User) -> None:
    done = user.configure()
    assert "no_such_lib is not installed; downloading file://" in done.stdout
    assert "read: one two" in done.stdout
    again = user.configure("-DHIPSCOPE_FETCH=OFF")
    assert "read: one two" in again.stdout and "downloading" not in again.stdout


def test_a_download_may_be_forbidden(user: User) -> None:
    done = user.configure("-DHIPSCOPE_FETCH=OFF", status=1)
    assert "downloading" not in done.stdout
    said = " ".join(done.stderr.split())
    assert "no_such_lib is not installed, and HIPSCOPE_FETCH is OFF. Debian and Ubuntu: libnosuch-dev" in said
    assert (
        "no_such_header is not installed, and HIPSCOPE_FETCH is OFF. Debian and Ubuntu: libone-dev; "
        f"its archive: file://{user.origin}/one.h"
    ) in said
    assert "-DHIPSCOPE_ARCHIVES=FOLDER" in said and "-DFETCHCONTENT_SOURCE_DIR_<NAME>=FOLDER" in said


def test_a_download_that_fails_names_everything_at_once(user: User) -> None:
    for file in ("v1.0.tar.gz", "one.h"):
        (user.origin / file).unlink()
    done = user.configure(status=1)
    said = " ".join(done.stderr.split())
    assert "no_such_lib is not installed and cannot be downloaded (" in said
    assert "no_such_header is not installed and cannot be downloaded (" in said


def test_another_file_than_expected_is_refused(user: User) -> None:
    user.write(archive_hash="0" * 64)
    for _ in range(2):  # what was refused is not there the next time either
        done = user.configure(status=1)
        said = " ".join(done.stderr.split())
        assert re.search(
            f"no_such_lib was downloaded, but is another file than expected: SHA256 [0-9a-f]+, not {'0' * 64}", said
        )


@pytest.mark.parametrize("in_environment", [False, True])
def test_archives_of_a_folder_under_any_names(
    user: User, monkeypatch: pytest.MonkeyPatch, in_environment: bool
) -> None:
    folder = user.folder / "archives"
    user.origin.rename(folder)
    (folder / "v1.0.tar.gz").rename(folder / "no-such-lib.tgz")
    (folder / "one.h").rename(folder / "another name")
    (folder / "other").mkdir()
    options = ["-DHIPSCOPE_FETCH=OFF"]
    user.configure(*options, status=1)  # after which one does as it says, in the same folder
    if in_environment:
        monkeypatch.setenv("HIPSCOPE_ARCHIVES", str(folder))
    else:
        options.append(f"-DHIPSCOPE_ARCHIVES={folder}")
    done = user.configure(*options)
    assert "read: one two" in done.stdout


def test_sources_that_are_unpacked_already(user: User) -> None:
    done = user.configure(
        "-DHIPSCOPE_FETCH=OFF",
        f"-DFETCHCONTENT_SOURCE_DIR_NO_SUCH_LIB={user.sources}",
        f"-DFETCHCONTENT_SOURCE_DIR_NO_SUCH_HEADER={user.origin}",
    )
    assert done.returncode == 0, done.stderr
    assert "read: one two" in done.stdout


def test_what_is_installed_is_taken(user: User) -> None:
    prefix = user.folder / "prefix"
    (prefix / "include" / "nosuch").mkdir(parents=True)
    (prefix / "include" / "nosuch" / "one.h").write_text("installed one")
    package = prefix / "lib" / "cmake" / "no_such_lib"
    package.mkdir(parents=True)
    (package / "no_such_libConfig.cmake").write_text(f"set(no_such_lib_SOURCE_DIR {user.sources})\n")
    done = user.configure("-DHIPSCOPE_FETCH=OFF", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert "read: installed one two" in done.stdout
