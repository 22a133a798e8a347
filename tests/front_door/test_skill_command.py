"""`dynamo skill`: printed, installed and removed; what the project has stays."""

import re
from pathlib import Path

import pytest

from support.answering import answer

SKILL = Path(".claude", "skills", "torch-compile", "SKILL.md")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_skill_is_short_and_describes_itself() -> None:
    text = answer("skill").stdout
    assert len(text.splitlines()) <= 150
    assert re.match(r"---\nname: torch-compile\ndescription: .{40,1000}\n---\n", text)


def test_it_types_one_name_of_the_command_and_says_that_outputs_have_the_other() -> None:
    text = answer("skill").stdout
    assert "`dynamo` and `dynamo-cli` are one command; outputs name it `dynamo`." in text
    assert not re.search(r"^ *dynamo \w|`dynamo \w", text, re.MULTILINE)


def test_it_is_installed_as_a_skill_and_removed_with_its_folders() -> None:
    assert answer("skill", "--install", "claude").exit_code == 0
    assert SKILL.read_text() == answer("skill").stdout
    assert answer("skill", "--remove", "claude").exit_code == 0
    assert not Path(".claude").exists()


def test_other_skills_stay() -> None:
    other = SKILL.parent.parent / "other" / "SKILL.md"
    other.parent.mkdir(parents=True)
    other.write_text("mine")
    answer("skill", "--install", "claude")
    answer("skill", "--remove", "claude")
    assert other.read_text() == "mine" and not SKILL.parent.exists()


@pytest.mark.parametrize("own", ["", "# Mine\n\ntext\n"])
def test_a_block_of_agents_md_comes_once_and_goes_whole(own: str) -> None:
    file = Path("AGENTS.md")
    if own:
        file.write_text(own)
    answer("skill", "--install", "agents")
    once = file.read_text()
    answer("skill", "--install", "agents")
    assert file.read_text() == once
    assert once.startswith(own) and "## Never" in once and "description:" not in once
    answer("skill", "--remove", "agents")
    assert (file.read_text() if file.exists() else "") == own


@pytest.mark.parametrize("marks", ["<!-- dynamo-cli skill: begin -->\n", "<!-- dynamo-cli skill: end -->\n"])
def test_half_a_block_is_left_alone(marks: str) -> None:
    Path("AGENTS.md").write_text(f"mine\n{marks}more\n")
    result = answer("skill", "--install", "agents")
    assert result.exit_code == 120 and "not one pair" in result.stderr
    assert Path("AGENTS.md").read_text() == f"mine\n{marks}more\n"


def test_a_link_is_not_followed(project: Path) -> None:
    (project / "elsewhere").write_text("mine\n")
    Path("AGENTS.md").symlink_to("elsewhere")
    result = answer("skill", "--install", "agents")
    assert (result.exit_code, (project / "elsewhere").read_text()) == (120, "mine\n")
    assert "symbolic link" in result.stderr


def test_what_is_not_there_cannot_be_removed() -> None:
    assert answer("skill", "--remove", "claude").exit_code == 120
    assert answer("skill", "--remove", "agents").exit_code == 120
    assert answer("skill", "--remove", "agents", "--install", "claude").exit_code == 2
