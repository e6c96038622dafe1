"""Writes with a chat model: the standalone question, the web query and the answer, one call each."""

import re
from collections.abc import Callable, Sequence
from datetime import date

from crag_graph.chat import ChatModel, ChatReply, Message, object_schema
from crag_graph.domain import Conversation, Kind, Turn
from crag_graph.fence import Fence, fence
from crag_graph.models.dates import calendar, dated
from crag_graph.models.queries import as_query, cut
from crag_graph.services import Brief, Draft, ModelReplyError, Source, Standalone, WebQuery

_STANDALONE = """\
You rewrite the last question of a conversation so that a search engine that knows nothing of the conversation
understands it. You do not answer it.
- Resolve what points back ("it", "that", "the second one", "and for adoption?") with names from the conversation.
- Keep every name, number, date, code and condition of the question exactly, and all that it asks.
- Add nothing that the question does not need. A new topic takes nothing from the old one.
- Keep the language of the question. A question that already stands alone is returned word for word.
- It stays one question of its asker: no answer, no comment.

Examples
Conversation: Q: How many vacation days do I have? A: 28 days a year. / Question: and in the year I start?
{"standalone_question": "How many vacation days do I have in the year I start?"}
Conversation: Q: Which laptops can I choose from? A: The Falcon 13 [1] or the Falcon 15 [1]. / Question: how heavy is the second one
{"standalone_question": "How heavy is the Falcon 15 laptop?"}
Conversation: Q: Wer genehmigt Dienstreisen? A: Die Teamleitung [1]. / Question: Und ab 2.000 Euro?
{"standalone_question": "Wer genehmigt Dienstreisen ab 2.000 Euro?"}
Conversation: Q: What does a parking space cost? A: 40 EUR a month [2]. / Question: What is gradient descent?
{"standalone_question": "What is gradient descent?"}

Reply with JSON only: {"standalone_question": "…"}"""
_SUMMARY = """

The conversation also has old turns that will be forgotten. Add "summary": what must be remembered of them and of
the summary so far in at most 120 words: topics, names, numbers, decisions. JSON only:
{"standalone_question": "…", "summary": "…"}"""
_QUERY = """\
You write the query for a web search engine that should find the answer to a question.
- Keywords, not a sentence: the names, terms, versions, places and numbers that matter. Leave out small talk.
- The language of the question. At most 15 words.
- Where the question wants something recent ("latest", "last month", "this year"), name the month and year or the
  year as counted from today's date. Otherwise no date.
- Leave out names of private people, e-mail addresses, phone numbers and internal codes that a search does not need.

Examples (today is 30 November 2026)
Question: Hi, could you tell me what the key updates in AI were last month?
{"query": "key AI news updates October 2026"}
Question: How does a heat pump differ from a gas boiler in running costs?
{"query": "heat pump vs gas boiler running costs"}

Reply with JSON only: {"query": "…"}"""
_ANSWER = """\
You answer a colleague's question from numbered sources, and from nothing else.
- Use only what the sources say. What you know besides does not count, even where you are sure.
- Behind every statement put the number of its source in square brackets, as [1] or [1][3]. Use no other numbers.
- Answer in the language of the question, whatever the language of the sources.
- Begin with the answer itself; short and complete: names, numbers, units, dates and conditions as the source has them.
- Where the sources answer only a part, answer that part and say in one sentence what they do not cover.
- Where sources disagree, follow the one that is not marked as superseded or older, and say that they disagree.
- Sources marked "web" are pages found just now, all others are internal documents: let the reader see which is which
  where it matters.
- No preamble, no list of sources at the end, no offer of further help. A list or table only where it reads better.
"""
_STANDALONE_ONLY = object_schema("standalone_question", standalone_question={"type": "string"})
_WITH_SUMMARY = object_schema("standalone_question", standalone_question={"type": "string"}, summary={"type": "string"})
_QUERY_SCHEMA = object_schema("web_query", query={"type": "string"})

_TURNS = 6
"""Remembered turns that rewriting looks at."""
_TURN_CHARACTERS = 700
_CHATTER = 8
"""The latest messages between answers that rewriting looks at."""
_LONGEST_QUESTION = 2_000
"""A reply beyond this is no question any more."""
_LABEL = re.compile(
    r"^\W*(?:standalone[ _]question|rewritten question|question|query|search query)\W*:\s*", re.IGNORECASE
)


class ApiWriter:
    """Implements services.Writer over a chat model; at most one call a method."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    async def contextualize(
        self, question: str, conversation: Conversation, *, overflow: Sequence[str], today: date
    ) -> Standalone:
        if conversation.empty and not overflow:
            return Standalone(question=question)
        messages = _standalone_messages(question, conversation, overflow, today)
        reply = await self._chat.ask("contextualize", messages, _WITH_SUMMARY if overflow else _STANDALONE_ONLY)
        summary = _field(reply, "summary") if overflow else ""
        return Standalone(
            question=_standalone(reply) or question,
            summary=_as_summary(summary, conversation, overflow) if overflow else None,
            calls=(reply.call,),
        )

    async def rewrite(
        self,
        standalone: str,
        conversation: Conversation,  # noqa: ARG002 - it is private
        *,
        today: date,
    ) -> WebQuery:
        """Of the conversation, only what is already in the standalone question goes towards the web."""
        question = fence([standalone])
        system = f"{_QUERY}\n\n{question.rule}"
        user = f"{calendar(today)}\n\nQuestion:\n{question.around(standalone)}"
        reply = await self._chat.ask("rewrite", [("system", system), ("user", user)], _QUERY_SCHEMA)
        query = as_query(dated(as_query(_field(reply, "query")), today, asked=standalone))
        if not query:
            raise ModelReplyError("It has no query.", calls=(reply.call,))
        return WebQuery(query=query, calls=(reply.call,))

    async def generate(self, brief: Brief, emit: Callable[[str], None]) -> Draft:
        reply = await self._chat.stream("generate", _answer_messages(brief), emit)
        return Draft(text=reply.text, calls=(reply.call,))


def _standalone_messages(
    question: str, conversation: Conversation, overflow: Sequence[str], today: date
) -> list[Message]:
    told = "\n\n".join(_told(conversation, overflow))
    marked = fence([told, question])
    system = f"{_STANDALONE}{_SUMMARY if overflow else ''}\n\n{marked.rule}"
    user = f"{calendar(today)}\n\nConversation:\n{marked.around(told)}\n\nQuestion:\n{marked.around(question)}"
    return [("system", system), ("user", user)]


def _told(conversation: Conversation, overflow: Sequence[str]) -> list[str]:
    """The conversation as text, oldest first."""
    told = [f"Old turn that will be forgotten: {cut(turn, _TURN_CHARACTERS)}" for turn in overflow]
    if conversation.summary:
        told.append(f"Summary so far: {conversation.summary}")
    told += [_turn(turn) for turn in conversation.turns[-_TURNS:]]
    if conversation.chatter:
        said = "\n".join(cut(message, _TURN_CHARACTERS) for message in conversation.chatter[-_CHATTER:])
        told.append(f"Said since then:\n{said}")
    return told


def _turn(turn: Turn) -> str:
    return f"Q: {turn['question']}\nA: {cut(turn['answer'], _TURN_CHARACTERS)}"


def _standalone(reply: ChatReply) -> str:
    question = " ".join(_field(reply, "standalone_question").split())
    if len(question) > _LONGEST_QUESTION:
        raise ModelReplyError("It is too long for a question.", calls=(reply.call,))
    return question


def _field(reply: ChatReply, name: str) -> str:
    """A text field of the reply; a model that wrote prose instead of JSON meant its one paragraph."""
    if reply.data is not None:
        texts = [value.strip() for value in reply.data.values() if isinstance(value, str)]
        value = reply.data.get(name, texts[0] if len(texts) == 1 and name != "summary" else "")
        return value.strip() if isinstance(value, str) else ""
    if name == "summary":
        return ""
    paragraphs = [paragraph for paragraph in re.split(r"\n\s*\n", reply.text.strip()) if paragraph.strip()]
    if len(paragraphs) != 1 or "{" in reply.text:
        raise ModelReplyError("It is not in the form that was asked for.", calls=(reply.call,))
    return _LABEL.sub("", paragraphs[0]).strip("\"'“”„` \n")


def _as_summary(summary: str, conversation: Conversation, overflow: Sequence[str]) -> str:
    """Nothing is forgotten because the model forgot the summary: then the beginnings of the old turns stand in."""
    if summary:
        return cut(summary, _LONGEST_QUESTION)
    lines = [conversation.summary, *(cut(turn, _TURN_CHARACTERS // 3) for turn in overflow)]
    return cut("\n".join(filter(None, lines)), _LONGEST_QUESTION)


def _answer_messages(brief: Brief) -> list[Message]:
    marked = fence(strip.text for source in brief.sources for strip in source.strips)
    sources = "\n\n".join(_source(source, marked) for source in brief.sources)
    asked = f"Question: {brief.question}"
    if brief.standalone != brief.question:
        asked += f"\nIn full: {brief.standalone}"
    return [
        ("system", f"{_ANSWER}- {marked.rule}"),
        ("user", f"{calendar(brief.today)}\n\nSources\n\n{sources}\n\n{asked}"),
    ]


def _source(source: Source, marked: Fence) -> str:
    passage = source.strips[0].passage if source.strips else None
    notes = ["web" if passage and passage.kind is Kind.WEB else "internal"]
    if passage and passage.superseded:
        notes.append("superseded")
    elif passage and passage.newer:
        notes.append("an older edition")
    pieces = [f"Title: {source.title}"]
    context = ""
    for strip in source.strips:
        if strip.context and strip.context != context:
            pieces.append(f"({strip.context})")
        context = strip.context
        pieces.append(strip.text)
    return marked.around("\n".join(pieces), label=f"[{source.number}] {', '.join(notes)}")
