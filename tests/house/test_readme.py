"""The README says what is so: its tables are compared with the tables that they describe."""

import pytest

from tests.house.readme_tables import README, TABLES, marked

TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_readme_is_the_one_that_the_program_works_with(name: str) -> None:
    assert marked(name) in TEXT


def test_every_picture_of_the_readme_is_there() -> None:
    for part in TEXT.split("](")[1:]:
        target = part.split(")")[0]
        if not target.startswith("http"):
            assert (README.parent / target).is_file(), target
