"""The embedded model's process: `python -P -m milk_tui.agents.embedded.child`, started by the agent beside it.

It reads its orders as one JSON line from stdin, loads the weights, serves them over HTTP on loopback, writes one JSON
line to stdout and is silent from then on. It lives exactly as long as its stdin is open: whatever ends the program
at the other end, this process is gone a moment later, in the middle of a word if need be.

It knows nothing of the rest of the program and imports only the standard library and, late, the engine: whatever is
loaded here is paid for in start-up time, and in memory for as long as the model runs.
"""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any, Literal, NoReturn

BATCH = 256
"""Tokens read in one go. The engine notices a closed stream only between two batches: more would make a stop slow."""
MAX_THREADS = 8
"""A model this small gains nothing from more."""
MAX_ANSWER = 1_024
"""Tokens. A small model can repeat itself for ever."""
PING = 1
"""Seconds between two signs of life in a silent stream; also how soon the engine sees that nobody listens."""
NICENESS = 10
"""The terminal comes first."""
TEMPERATURE, TOP_P = 0.2, 0.9
"""What the model's makers advise; with more heat one this small loses the thread."""
DRY = 0.8
"""How hard a longer repetition is avoided: without it an answer often ends in one sentence said for ever. A penalty
on single words would also forbid those of the question."""

Reason = Literal["missing", "engine_missing", "engine_refused"]


class Refusal(Exception):
    """Why nothing can be served; `detail` holds the words of whoever refused."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


def main() -> NoReturn:
    """Serve until stdin ends. Every way out is `os._exit`: an orderly one waits for, or crashes in, open streams."""
    voice = os.dup(1)
    os.dup2(2, 1)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    orders = json.loads(sys.stdin.buffer.readline() or b"null")
    if orders is None:
        os._exit(0)
    parent = threading.Thread(target=_leave_with_the_parent, daemon=True)
    parent.start()
    try:
        server = _serve(Path(orders["weights"]), orders["api_key"], orders["window"])
    except Refusal as refusal:
        _say(voice, {"error": refusal.reason, "detail": refusal.detail})
        os._exit(1)
    _say(voice, {"url": server.listening_address})
    parent.join()
    os._exit(0)


def _leave_with_the_parent() -> NoReturn:
    while os.read(0, 4_096):
        pass
    os._exit(0)


def _say(voice: int, line: dict[str, Any]) -> None:
    with os.fdopen(voice, "w", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _serve(weights: Path, api_key: str, window: int) -> Any:
    """The running server; it lives as long as it is referred to."""
    if not weights.is_file():
        raise Refusal("missing")
    try:
        import xllamacpp
    except ImportError as error:
        raise Refusal("engine_missing", str(error)) from error
    try:
        return xllamacpp.Server(_params(xllamacpp.CommonParams(), weights, api_key, window))
    except RuntimeError as error:
        raise Refusal("engine_refused", str(error)) from error


def _params(params: Any, weights: Path, api_key: str, window: int) -> Any:
    params.model.path = str(weights)
    params.model_alias = {weights.stem}
    params.offline = True
    params.n_ctx = window
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.n_predict = MAX_ANSWER
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    params.sampling.temp, params.sampling.top_p = TEMPERATURE, TOP_P
    params.sampling.dry_multiplier = DRY
    params.warmup = False
    params.verbosity = -1
    # A second copy of what was read lately, gigabytes by default, pays only where several conversations alternate.
    params.cache_ram_mib = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [api_key]
    params.sse_ping_interval = PING
    params.ui = False
    params.endpoint_slots = False
    params.cors_origins = ""
    params.cors_credentials = False
    return params


def _threads() -> int:
    """All cores but one: with all of them, any other busy program makes the model several times slower."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MAX_THREADS, max(1, cores - 1))


if __name__ == "__main__":
    main()
