from bot.settings import example_file
from tests.architecture.source import ROOT


def test_the_example_of_an_env_file_holds_every_setting() -> None:
    """`crag settings --env > .env.example` writes it anew."""
    assert (ROOT / ".env.example").read_text("utf-8") == example_file()
