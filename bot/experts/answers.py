"""An expert's answer on its way into the library, and what becomes of it there: found, confirmed, disowned, removed."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cleaning import clean
from bot.experts.tables import expert_answers
from crag_graph.knowledge.documents import Block, BlockKind, LoadedDocument, NewDocument, StoredDocument
from crag_graph.knowledge.errors import DocumentError
from crag_graph.knowledge.ingest import Ingest
from crag_graph.knowledge.tables import documents
from crag_graph.phrases import Phrase, amount

LOADER = "expert"
LONGEST_QUESTION = 2_000
LONGEST_ANSWER = 20_000
LONGEST_IN_TITLE = 120
SOURCE = "expert-answer:"
"""With the digest of the question: the same question again is the same document."""
LOCATION = Phrase("Expert answer")
TITLE = Phrase("Answer by {name}, {day}: {question}")
SOMEBODY = Phrase("a colleague")
BOTH_NEEDED = Phrase("Both are needed: the question, and its answer.")
QUESTION_TOO_LONG = Phrase("The question has more than {most} characters. Shorten it.")
ANSWER_TOO_LONG = Phrase("The answer has more than {most} characters. Add it as a document instead.")


class CorrectionError(ValueError):
    """The answer cannot be stored; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Correction:
    """What somebody says that the answer is. `space`: who may see it. `run`: the trace that is corrected, if any.

    `link`: an http address where it was said. `question`: as the answer answers it, without its conversation.
    """

    team: str
    space: str
    question: str
    answer: str
    author: str
    author_name: str = ""
    run: str = ""
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class ExpertAnswer:
    """An answer as the library has it. `review_at`: from then on somebody is to say whether it is still right."""

    document: int
    team: str
    run: str
    question: str
    answer: str
    author: str
    author_name: str
    link: str | None
    answered_at: datetime
    review_at: datetime | None
    reminded_at: datetime | None


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Experts:
    """`review_after`: how long an answer counts before somebody is asked about it; None: for ever."""

    engine: AsyncEngine
    ingest: Ingest
    review_after: timedelta | None = None
    now: Callable[[], datetime] = _now

    async def correct(self, correction: Correction) -> ExpertAnswer:
        """Stores the answer in place of what was said to the same question, or of the same trace, before.

        Raises CorrectionError, or a ServiceError where the library or the embedding model fails.
        """
        said = _checked(correction)
        now = self.now()
        row = {
            "document": (await self._write(said, now)).id,
            "team": said.team,
            "run": said.run,
            "question": said.question,
            "answer": said.answer,
            "author": said.author,
            "author_name": said.author_name,
            "link": said.link or None,
            "answered_at": now,
            "review_at": self._review_at(now),
            "reminded_at": None,
        }
        statement = upsert(expert_answers).values(row)
        async with self.engine.begin() as connection:
            changed = statement.on_conflict_do_update(index_elements=["document"], set_=row)
            stored = (await connection.execute(changed.returning(expert_answers))).mappings().one()
            if said.run:  # the question was worded anew, or goes to others now
                earlier = select(expert_answers.c.document).where(
                    expert_answers.c.team == said.team,
                    expert_answers.c.run == said.run,
                    expert_answers.c.document != stored["document"],
                )
                await connection.execute(delete(documents).where(documents.c.id.in_(earlier)))
        return ExpertAnswer(**stored)

    async def find(self, document: int, *, team: str) -> ExpertAnswer | None:
        which = expert_answers.c.document == document, expert_answers.c.team == team
        async with self.engine.connect() as connection:
            row = (await connection.execute(select(expert_answers).where(*which))).mappings().first()
        return ExpertAnswer(**row) if row else None

    async def listed(self, *, team: str, author: str | None = None) -> tuple[ExpertAnswer, ...]:
        """The answers of a team, or of one of its people; first those that are to be looked at first."""
        which = [expert_answers.c.team == team, *([expert_answers.c.author == author] if author else [])]
        query = select(expert_answers).where(*which).order_by(expert_answers.c.review_at, expert_answers.c.document)
        async with self.engine.connect() as connection:
            return tuple(ExpertAnswer(**row) for row in (await connection.execute(query)).mappings())

    async def confirm(self, document: int, *, team: str) -> ExpertAnswer | None:
        """It is still right: nobody is asked again for a while. None where there is no such answer."""
        which = expert_answers.c.document == document, expert_answers.c.team == team
        changes = {"review_at": self._review_at(self.now()), "reminded_at": None}
        async with self.engine.begin() as connection:
            changed = update(expert_answers).where(*which).values(changes).returning(expert_answers)
            row = (await connection.execute(changed)).mappings().first()
        return ExpertAnswer(**row) if row else None

    async def remove(self, document: int, *, team: str) -> ExpertAnswer | None:
        """Answers use it no more. None where there is no such answer."""
        found = await self.find(document, team=team)
        return found if found and await self.ingest.library.remove(document) else None

    async def due(self) -> tuple[ExpertAnswer, ...]:
        """Answers of all teams that are to be looked at again and about which nobody was asked yet, oldest first."""
        which = expert_answers.c.review_at <= self.now(), expert_answers.c.reminded_at.is_(None)
        query = select(expert_answers).where(*which).order_by(expert_answers.c.review_at)
        async with self.engine.connect() as connection:
            return tuple(ExpertAnswer(**row) for row in (await connection.execute(query)).mappings())

    async def reminded(self, document: int) -> None:
        """Somebody was asked whether the answer is still right."""
        changed = update(expert_answers).where(expert_answers.c.document == document).values(reminded_at=self.now())
        async with self.engine.begin() as connection:
            await connection.execute(changed)

    async def disown(self, person: str, *, team: str | None = None) -> int:
        """The answers of a person, of one team or of all, stay, but nothing tells any more whose they are.

        Returns how many there were. Raises a ServiceError: what was the author's is in what a document is found by.
        """
        which = [expert_answers.c.author == person, *([expert_answers.c.team == team] if team else [])]
        async with self.engine.connect() as connection:
            rows = (await connection.execute(select(expert_answers).where(*which))).mappings().all()
        for one in (ExpertAnswer(**row) for row in rows):
            stored = await self.ingest.library.document(one.document)
            if stored is None:
                continue
            said = Correction(
                team=one.team, space=stored.space, question=one.question, answer=one.answer, author="", link=""
            )
            await self._write(said, one.answered_at)
            anonymous = {"author": "", "author_name": "", "link": None}
            async with self.engine.begin() as connection:
                changed = update(expert_answers).where(expert_answers.c.document == one.document).values(anonymous)
                await connection.execute(changed)
        return len(rows)

    async def _write(self, said: Correction, when: datetime) -> StoredDocument:
        try:
            return await self.ingest.write(_document(said, when), _pages(said, when))
        except DocumentError as error:
            raise CorrectionError(str(error)) from error

    def _review_at(self, now: datetime) -> datetime | None:
        return now + self.review_after if self.review_after else None


def _checked(correction: Correction) -> Correction:
    question = " ".join(clean(correction.question).split())
    answer = clean(correction.answer).strip()
    if not question or not answer:
        raise CorrectionError(BOTH_NEEDED())
    if len(question) > LONGEST_QUESTION:
        raise CorrectionError(QUESTION_TOO_LONG(most=amount(LONGEST_QUESTION)))
    if len(answer) > LONGEST_ANSWER:
        raise CorrectionError(ANSWER_TOO_LONG(most=amount(LONGEST_ANSWER)))
    name = " ".join(clean(correction.author_name).split())
    link = correction.link if correction.link.startswith(("https://", "http://")) else ""
    return Correction(
        team=correction.team,
        space=correction.space,
        question=question,
        answer=answer,
        author=correction.author,
        author_name=name,
        run=correction.run,
        link=link,
    )


def _document(said: Correction, when: datetime) -> NewDocument:
    data = said.answer.encode()
    return NewDocument(
        space=said.space,
        source=source_of(said.question),
        title=_title(said, when),
        loader=LOADER,
        digest=hashlib.sha256(data).hexdigest(),
        size=len(data),
        superseded=False,
        added_by=said.author,
        link=said.link or None,
    )


def _pages(said: Correction, when: datetime) -> LoadedDocument:
    """The question stands above each paragraph, so that an answer like “16” is found by it and understood."""
    headings = (LOCATION(), said.question)
    paragraphs = filter(None, (part.strip() for part in re.split(r"\n\s*\n", said.answer)))
    return LoadedDocument(
        source=source_of(said.question),
        title=_title(said, when),
        loader=LOADER,
        blocks=tuple(Block(kind=BlockKind.PARAGRAPH, text=part, headings=headings) for part in paragraphs),
    )


def _title(said: Correction, when: datetime) -> str:
    question = said.question
    if len(question) > LONGEST_IN_TITLE:
        question = f"{question[: LONGEST_IN_TITLE - 1]}…"
    return TITLE(name=said.author_name or said.author or SOMEBODY(), day=f"{when:%Y-%m-%d}", question=question)


def source_of(question: str) -> str:
    """Whatever its case, spaces and end, a question has one source."""
    same = " ".join(question.casefold().split()).rstrip(" ?!.…？！。")
    return f"{SOURCE}{hashlib.sha256(same.encode()).hexdigest()[:16]}"
