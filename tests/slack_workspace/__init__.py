"""A local Slack: the Web API, Socket Mode, signed HTTP, and the people who use them.

A scenario is a dialogue:

    async with SlackWorkspace(manifest=Path("slack_manifest.yml")) as slack:
        ...  # start the bot with slack.bot_token, slack.app_token, slack.api_url
        ada = slack.user("Ada")
        general = slack.channel("general", members=[ada, slack.bot])
        question = await ada.says("@bot how many days of leave?", in_=general)
        reply = await slack.reply_to(question, saying="26 weeks")
        assert reply.pings == frozenset()
        await ada.clicks("How I got here", on=reply)
        assert "score" in (await ada.sees_modal()).screen
        await slack.quiet()

`slack.admin` does what administrators do, `slack.network` and `slack.faults` what goes wrong, `slack.clock`
makes triggers, streams and response URLs old. By hand: `python -m tests.slack_workspace`.
"""

from tests.slack_workspace.installation import Manifest
from tests.slack_workspace.message import Message
from tests.slack_workspace.modal import Modal, Outcome
from tests.slack_workspace.person import Person
from tests.slack_workspace.timing import Timing
from tests.slack_workspace.workspace import SlackWorkspace

__all__ = ["Manifest", "Message", "Modal", "Outcome", "Person", "SlackWorkspace", "Timing"]
