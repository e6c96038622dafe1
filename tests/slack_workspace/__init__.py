"""A local Slack: the Web API, Socket Mode, signed HTTP, and the people who use them."""

from tests.slack_workspace.installation import Manifest
from tests.slack_workspace.message import Message
from tests.slack_workspace.modal import Modal, Outcome
from tests.slack_workspace.person import Person
from tests.slack_workspace.timing import Timing
from tests.slack_workspace.workspace import SlackWorkspace

__all__ = ["Manifest", "Message", "Modal", "Outcome", "Person", "SlackWorkspace", "Timing"]
