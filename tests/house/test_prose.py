"""What must not be in any file of the project: unfinished business, this machine, somebody's registry."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.running import REPO

THIS = Path(__file__)
TEXT = {".py", ".tcss", ".md", ".toml", ".json", ".yml", ".yaml", ".txt", ".cfg", ".lock", ""}

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError")
MACHINE = re.compile(r"(?<![\w.])/(work|root|home/(?!ana\b)\w+|Users/\w+)/[\w.-]+|/tmp/pytest-")
"""Ana is the user of the demo."""
REGISTRY = re.compile(
    r"https?://(?![^\s\"'/]*\.example\b)[^\s\"'/]*(/[^\s\"']*)?(py" r"pi|artifactory|nexus|/simple\b|/npm\b)",
    re.IGNORECASE,
)


def files() -> list[Path]:
    """The text files of the repository, as far as Git knows them."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "-z"], cwd=REPO, capture_output=True, text=True, timeout=30
    )
    if listed.returncode:
        pytest.skip("this is no checkout")
    paths = [REPO / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.suffix in TEXT and path.is_file() and path != THIS]


def found(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    lines = []
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if hit := pattern.search(line):
                lines.append(f"{path.relative_to(REPO)}:{number}: {hit[0]}")
    return lines


@pytest.mark.parametrize(
    ("pattern", "example"),
    [
        (UNFINISHED, "x = 1  # TODO later"),
        (MACHINE, "path = '/{}/project/file'".format("root")),
        (REGISTRY, "https://mirror.corp/artifactory/x"),
    ],
    ids=["unfinished business", "paths of one machine", "a registry of packages"],
)
def test_no_file_holds(pattern: re.Pattern[str], example: str) -> None:
    assert pattern.search(example), "the pattern finds nothing"
    paths = files()
    assert len(paths) > 50
    assert found(pattern, paths) == []
