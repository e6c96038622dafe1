"""What the bot says in its own words: hints, apologies, and what to do when Slack refuses."""

from bot.channels.settings import Changers
from crag_graph.phrases import Phrase

HINT = Phrase(
    "Ask me a question, for example: How many days of parental leave do I get? "
    "I answer from your documents, and from the web where they are not enough."
)
GONE = Phrase("This answer is no longer known: it was forgotten, or it is too old.")
QUESTION_GONE = Phrase("The message with your question is gone. Ask again in a new one.")
STOPPED = Phrase("Stopped.")
HOW = Phrase("How I got here")
CANCEL = Phrase("Cancel")
CLOSE = Phrase("Close")
SOMEBODY = Phrase("Somebody")
EVERYBODY = Phrase("Everybody in the workspace")
THE_FILE = Phrase("the file")
SORRY = Phrase("Sorry, something went wrong and I have no answer.")
UNDER_TRACE = Phrase("An admin finds the reason under trace {trace}.")
TRY_AGAIN = Phrase("I will try again in {seconds} seconds.")
ASK_LATER = Phrase("I have tried several times. Please ask again later.")
TRY_SHORTLY = Phrase("I cannot take this at the moment. Try again shortly.")
REVIEW = Phrase(
    "<{address}|Review what I answered>. The link is for you alone: it signs in one browser, once, "
    "within the next ten minutes."
)
NOT_ADMIN = Phrase("The review pages are for admins. Whoever runs me names them in the setting `CRAG_ADMINS`.")
NOT_INSTALLED = Phrase("I am not installed in your workspace, or no longer. Ask an admin to install me.")
WORKING = Phrase("Looking that up: the answer comes here, for you alone.")
SWITCHED_OFF = {
    Changers.MEMBERS: Phrase(
        "I am switched off in this channel. Any of its members can switch me on with `/crag-settings`; "
        "until then, ask me in a direct message."
    ),
    Changers.ADMINS: Phrase(
        "I am switched off in this channel. An admin can switch me on with `/crag-settings`; "
        "until then, ask me in a direct message."
    ),
}

REFUSALS = {
    "not_in_channel": Phrase("I am not a member of <#{channel}>. Invite me there with `/invite` and ask again."),
    "channel_not_found": Phrase(
        "I cannot see the channel where you asked. Invite me there with `/invite` and ask again."
    ),
    "is_archived": Phrase("<#{channel}> is archived, so nobody can post there. Ask me here instead."),
    "thread_not_found": Phrase("The message that you asked in is gone. Ask again."),
    "cannot_reply_to_message": Phrase("Slack takes no replies to that message. Ask again in a message of its own."),
    "restricted_action": Phrase("I may not post in <#{channel}>. Ask me here, or have an admin allow it."),
    "restricted_action_read_only_channel": Phrase("<#{channel}> is read-only for me. Ask me here instead."),
    "restricted_action_thread_locked": Phrase("The thread in <#{channel}> is locked. Ask me here instead."),
    "missing_scope": Phrase("The app lacks a permission at Slack. Have an admin install it anew with its manifest."),
}
REFUSED = Phrase("Slack did not take my answer in <#{channel}> ({code}). Ask me here, or tell an admin.")


def apology(trace_id: str = "") -> str:
    """One short apology; the trace says the rest to an admin."""
    return " ".join([SORRY(), *([UNDER_TRACE(trace=trace_id)] if trace_id else [])])


def again(reason: str, seconds: float) -> str:
    """What has failed for the moment, and what happens next."""
    return f"{reason} {TRY_AGAIN(seconds=f'{seconds:g}')}"


def switched_off(changers: Changers) -> str:
    """Why nobody is answered here, and who can change that."""
    return SWITCHED_OFF[changers]()


def refusal(code: str, channel: str) -> str:
    """Why nothing could be posted where the question was asked, and what helps."""
    return REFUSALS.get(code, REFUSED)(channel=channel, code=code)
