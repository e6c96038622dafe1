"""The command line: every way to use the product from a terminal."""

import os
import sys
from collections.abc import Sequence

from bot.cli.commands import app

FAILURE, INTERRUPTED = 1, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Exits with 0 when it is done, 2 for wrong use or settings, 1 for a failure; one line on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        app(args=[argument for argument in given if argument != "--debug"], prog_name="crag")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has enough; Python must not complain when it flushes the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILURE)
    except Exception as error:
        if debug:
            raise
        status, message = _explained(error)
        print(f"crag: {message}", file=sys.stderr)
        sys.exit(status)


def _explained(error: BaseException) -> tuple[int, str]:
    """The exit status and one line."""
    from bot.cli.errors import explained  # noqa: PLC0415 - only where something failed: `crag --help` must be quick

    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    status, message = explained(error)
    return status, " ".join(message.split())
