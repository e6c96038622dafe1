"""Who may see what, and what Slack is asked for it."""

import pytest

from bot.slack.access import access, space_for_ingest
from bot.slack.directory import Directory, Person, Place
from bot.slack.incoming import WORKSPACE, Kind, Me
from bot.slack.web import SlackAwayError, Web
from tests.slack_workspace import SlackWorkspace

ME = Me(team="T1", user="UBOT")
MEMBER = Person(id="U1", name="Ann", home="T1", guest=False)
GUEST = Person(id="U2", name="Gus", home="T1", guest=True)
STRANGER = Person(id="U3", name="Sam", home="T9", guest=False)
TRAVEL = Place(id="C1", kind=Kind.CHANNEL, name="travel", shared=False)
SHARED = Place(id="C2", kind=Kind.CHANNEL, name="partners", shared=True)


@pytest.mark.parametrize(
    ("place", "person", "spaces", "elsewhere"),
    [
        (TRAVEL, MEMBER, ("workspace", "T1:C1"), ("T1:C9",)),
        (TRAVEL, GUEST, ("T1:C1",), ("T1:C9",)),
        (TRAVEL, STRANGER, ("T1:C1",), ("T1:C9",)),
        (SHARED, MEMBER, ("T1:C2",), ("workspace", "T1:C9")),
        (SHARED, STRANGER, ("T1:C2",), ("T1:C9",)),
        (Place(id="C3"), MEMBER, ("T1:C3",), ("workspace", "T1:C9")),
        (TRAVEL, Person(id="U9"), ("T1:C1",), ("T1:C9",)),
    ],
)
def test_a_question_sees_what_its_place_and_asker_may(
    place: Place, person: Person, spaces: tuple[str, ...], elsewhere: tuple[str, ...]
) -> None:
    found = access(me=ME, place=place, person=person, channels=[place.id, "C9"])
    assert (found.spaces, found.elsewhere) == (spaces, elsewhere)


@pytest.mark.parametrize(
    ("place", "for_everybody", "space"),
    [
        (TRAVEL, True, WORKSPACE),
        (TRAVEL, False, "T1:C1"),
        (SHARED, True, "T1:C2"),
        (Place(id="D1", kind=Kind.DM, shared=False), True, "T1:D1"),
        (Place(id="G1", kind=Kind.PRIVATE, shared=False), True, "T1:G1"),
    ],
)
def test_only_a_public_channel_gives_to_everybody(place: Place, for_everybody: bool, space: str) -> None:
    assert space_for_ingest(me=ME, place=place, for_everybody=for_everybody) == space


async def test_slack_is_asked_once_and_again_when_something_changed(slack: SlackWorkspace, web: Web) -> None:
    ann = slack.user("Ann")
    place = slack.channel("travel", members=[ann, slack.bot])
    directory = Directory(web)
    for _ in range(2):
        assert await directory.place(place.id) == Place(id=place.id, kind=Kind.CHANNEL, name="travel", shared=False)
        assert (await directory.person(ann.id)).name == "Ann"
    assert len(slack.calls("conversations.info")) == len(slack.calls("users.info")) == 1
    slack.admin.renames(place, "trips")
    directory.forget_place(place.id)
    directory.forget_person(ann.id)
    assert await directory.names([ann.id], [place.id]) == {ann.id: "Ann", place.id: "trips"}


async def test_kinds_of_places_and_people_are_told_apart(slack: SlackWorkspace, web: Web) -> None:
    ann, gus, sam = slack.user("Ann"), slack.user("Gus", guest=True), slack.user("Sam", stranger=True)
    private = slack.channel("secret", members=[ann, slack.bot], private=True)
    shared = slack.channel("partners", members=[ann, sam, slack.bot])
    shared.shared = True
    hidden = slack.channel("board", members=[ann], private=True)
    directory = Directory(web)
    kinds = [(await directory.place(place.id)).kind for place in (private, ann.dm, slack.group_dm(ann, gus), hidden)]
    assert kinds == [Kind.PRIVATE, Kind.DM, Kind.GROUP_DM, Kind.UNKNOWN]
    assert (await directory.place(shared.id)).shared
    assert [(await directory.person(who.id)).guest for who in (ann, gus, sam)] == [False, True, True]
    assert (await directory.person("U0NOBODY")) == Person(id="U0NOBODY")
    assert set(await directory.channels_of(ann.id)) >= {private.id, shared.id, ann.dm.id}
    assert hidden.id not in await directory.channels_of(ann.id)


async def test_slack_that_is_away_is_not_mistaken_for_a_refusal(slack: SlackWorkspace, web: Web) -> None:
    slack.faults.next("users.info", status=500, times=5)
    with pytest.raises(SlackAwayError):
        await Directory(web).person("U1")


async def test_a_deactivated_person_sees_no_more_than_a_guest(slack: SlackWorkspace, web: Web) -> None:
    ann = slack.user("Ann")
    slack.admin.deactivates(ann)
    assert (await Directory(web).person(ann.id)).guest
