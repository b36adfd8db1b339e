from pathlib import Path

import pytest

from tests.tools.tool_room import Room


@pytest.fixture
def room(tmp_path: Path) -> Room:
    directory = tmp_path / "project"
    directory.mkdir()
    return Room(directory, tmp_path / "kept")
