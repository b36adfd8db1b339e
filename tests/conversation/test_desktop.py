"""The desktop's programs, as scripts that really run."""

import os
from pathlib import Path

import pytest

from milk_tui.conversation.desktop import copied, opened

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are shell scripts")


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)


def desk(folder: Path, **variables: str) -> dict[str, str]:
    return {"PATH": f"{folder}:/usr/bin:/bin", **variables}


async def test_the_first_program_that_takes_a_text_gets_all_of_it(tmp_path: Path) -> None:
    program(tmp_path, "wl-copy", "exit 1")
    program(tmp_path, "xclip", f"cat > {tmp_path}/taken")
    text = "漢字 \n" * 50_000
    there = desk(tmp_path, WAYLAND_DISPLAY="w", DISPLAY=":0")

    assert await copied(text, there) == "xclip"
    assert (tmp_path / "taken").read_text() == text


async def test_far_away_no_program_of_this_machine_s_desktop_is_asked(tmp_path: Path) -> None:
    for name in ("wl-copy", "xclip", "xdg-open"):
        program(tmp_path, name, "exit 0")
    far = desk(tmp_path, WAYLAND_DISPLAY="w", DISPLAY=":0", SSH_CONNECTION="1 2 3 4")

    assert await copied("text", far) is None
    assert await opened("https://a.example", far) is None


async def test_without_a_desktop_nothing_is_started(tmp_path: Path) -> None:
    program(tmp_path, "xdg-open", "exit 0")

    assert await copied("text", desk(tmp_path)) is None
    assert await opened("https://a.example", desk(tmp_path)) is None


async def test_an_address_is_given_as_one_word(tmp_path: Path) -> None:
    program(tmp_path, "xdg-open", f'printf "%s|" "$@" > {tmp_path}/opened')

    assert await opened("https://a.example/;x?y=$(id)&z", desk(tmp_path, DISPLAY=":0")) == "xdg-open"
    assert (tmp_path / "opened").read_text() == "https://a.example/;x?y=$(id)&z|"
