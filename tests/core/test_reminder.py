import pytest

from milk_tui.core.reminder import without_reminder

REMINDER = "<system-reminder>\nWhenever you read a file, consider it.\n</system-reminder>"


def test_the_reminder_behind_a_result_is_taken_off_and_nothing_else() -> None:
    assert without_reminder(f"     1→text\n\n{REMINDER}\n") == "     1→text"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        REMINDER,
        f"\n{REMINDER}",
        f"{REMINDER}\ntext",
        f"     1→{REMINDER}",
        "text\n</system-reminder>",
    ],
)
def test_what_is_no_reminder_behind_something_stays(text: str) -> None:
    assert without_reminder(text) == text
