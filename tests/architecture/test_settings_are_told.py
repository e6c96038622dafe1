from bot.settings import example_file, table
from tests.architecture.source import ROOT


def test_the_example_of_an_env_file_holds_every_setting() -> None:
    """`crag settings --env > .env.example` writes it anew."""
    assert (ROOT / ".env.example").read_text("utf-8") == example_file()


def test_the_table_in_the_readme_holds_every_setting() -> None:
    """`crag settings --markdown` prints it anew."""
    readme = (ROOT / "README.md").read_text("utf-8")
    _, _, rest = readme.partition("<!-- settings: crag settings --markdown -->\n")
    shown, _, _ = rest.partition("\n<!-- /settings -->")
    assert shown.strip() == table().strip()
