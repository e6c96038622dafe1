"""Start the local Slack by hand: `python -m tests.slack_workspace`."""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.patch_stdout import patch_stdout

from tests.slack_workspace.console import HELP, Console
from tests.slack_workspace.timing import Timing
from tests.slack_workspace.workspace import SlackWorkspace

# Always the same, so that a .env file stays right: this Slack lives on this machine only.
SIGNING_SECRET = "0123456789abcdef0123456789abcdef"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.slack_workspace", description=__doc__)
    parser.add_argument("--manifest", type=Path, help="the app's manifest; without it every scope and command is known")
    parser.add_argument("--port", type=int, default=7878)
    parser.add_argument("--request-url", help="deliver by signed HTTP to this URL instead of Socket Mode")
    parser.add_argument("--rate-limits", action="store_true", help="count calls as Slack does")
    return parser.parse_args()


def show(text: str) -> None:
    sys.stdout.write(text.rstrip("\n") + "\n")
    sys.stdout.flush()


async def typed(prompt: Callable[[], str]) -> AsyncIterator[str]:
    """Lines from the terminal, with history; they end with Ctrl-D or Ctrl-C."""
    session: PromptSession[str] = PromptSession()
    with patch_stdout():
        while True:
            try:
                yield await session.prompt_async(prompt)
            except (EOFError, KeyboardInterrupt):
                return


async def piped() -> AsyncIterator[str]:
    """Lines of a script on standard input."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        show(f"> {line}")
        yield line


async def main() -> None:
    asked = arguments()
    async with SlackWorkspace(
        manifest=asked.manifest, timing=Timing(), rate_limits=asked.rate_limits, port=asked.port
    ) as slack:
        slack.app.signing_secret = SIGNING_SECRET
        slack.app.request_url = asked.request_url
        console = Console(slack, show)
        show(f"Put these lines into .env and start the bot:\n\n{environment(slack)}\n")
        if not asked.request_url:
            show("Waiting for the bot to connect …")
            await slack.connected(within=float("inf"))
            show("The bot is connected.\n")
        show(HELP)
        await console.run(typed(lambda: console.prompt) if sys.stdin.isatty() else piped())


def environment(slack: SlackWorkspace) -> str:
    """The settings with which the bot finds this Slack."""
    return "\n".join(
        [
            f"SLACK_BOT_TOKEN={slack.bot_token}",
            f"SLACK_APP_TOKEN={slack.app_token}",
            f"SLACK_SIGNING_SECRET={slack.signing_secret}",
            f"CRAG_SLACK_API_URL={slack.api_url}",
        ]
    )


if __name__ == "__main__":
    asyncio.run(main())
