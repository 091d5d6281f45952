"""`python -m semibandits`."""

from semibandits.cli import main

if __name__ == "__main__":
    main(prog_name="semibandits")
