"""How fast the program is, beside what it is measured against: `python -m tests.benchmarks`.

Every row is measured in a real terminal beside its reference in the same run, in turns, and is to be read as a ratio:
the figures depend on the machine and on what else that does. Name sections to measure only those; `--quick` takes
fewer rounds. `--all` adds the tables of bricks, transcript and search.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.measures import Measures, Row

HEADINGS = ("what", "ours", "reference", "ratio", "at most", "")


def table(rows: Iterator[Row]) -> int:
    """Print the rows as they are measured; how many miss their target."""
    print("{:58}{:>12}{:>12}{:>8}{:>9} {}".format(*HEADINGS))
    missed = 0
    for row in rows:
        missed += not row.holds
        print(row, flush=True)
    return missed


def sections(measures: Measures) -> dict[str, Callable[[], Iterator[Row]]]:
    """What can be measured, by name."""
    return {
        "start": measures.start,
        "keys": measures.keys,
        "stream": measures.stream,
        "size": measures.size,
        "paste": measures.paste,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        known = sections(Measures(Path(folder), quick=options.quick))
        chosen = options.sections or list(known)
        missed = table(row for name in chosen for row in known[name]())
    if options.all:
        from tests.benchmarks import bench_bricks, bench_search

        bench_bricks.main()
        bench_search.main()
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
