"""`python -m milk_tui` is `milk-tui`."""

from milk_tui.cli import main

if __name__ == "__main__":
    main()
