"""Which spaces of the library a question may see, from where it is asked and by whom; pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.slack.directory import Person, Place
from bot.slack.incoming import Kind, Me

MOST_ELSEWHERE = 200


@dataclass(frozen=True, kw_only=True)
class Access:
    """`elsewhere`: spaces that the asker may see, but not this place; for the reason of an abstention alone."""

    spaces: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()


def space_of(team: str, channel: str) -> str:
    """The space of one channel or DM."""
    return f"{team}:{channel}"


def access(*, me: Me, place: Place, person: Person, channels: Iterable[str], workspace: bool = True) -> Access:
    """Guests and people of other organisations see the place's own space, and in a shared channel everybody does:
    they would read the answer. `channels`: where else the person is; `workspace`: this place may use what is for
    everybody.
    """
    here = space_of(me.team, place.id)
    member = is_member(me.team, person)
    everybody = (me.everybody,) if member and workspace and not place.shared else ()
    others = [space_of(me.team, channel) for channel in channels if channel != place.id]
    hidden = [me.everybody] if member and not everybody else []
    return Access(spaces=(*everybody, here), elsewhere=tuple([*hidden, *others][:MOST_ELSEWHERE]))


def still_there(*, team: str, place: Place, person: Person, channels: Iterable[str]) -> bool:
    """May somebody who asked in a place read it today? `channels`: where the person is."""
    return place.id in channels or (place.kind is Kind.CHANNEL and not place.shared and is_member(team, person))


def is_member(team: str, person: Person) -> bool:
    """A full member of the team: no guest, nobody of another organisation."""
    return not person.guest and person.home == team


def space_for_ingest(*, me: Me, place: Place, for_everybody: bool) -> str:
    """Where a document goes that is added here; only a public channel of ours can give to everybody."""
    public = place.kind is Kind.CHANNEL and not place.shared
    return me.everybody if for_everybody and public else space_of(me.team, place.id)
