"""`dynamo completion`."""

import shlex

import click

from .completion.shell_scripts import SCRIPTS
from .help_pages import CommandWithHelp


@click.command("completion", cls=CommandWithHelp)
@click.argument("shell", type=click.Choice(tuple(SCRIPTS)))
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="")
@click.pass_context
def completion_command(ctx: click.Context, shell: str, words: tuple[str, ...]) -> None:
    """Print what makes a shell complete commands, options, recordings, backends, stages, frames and files.

    Put the line that is for your shell into its start-up file. Behind a program's name, files are completed.

    \b
    Examples:
      eval "$(dynamo completion bash)"        in ~/.bashrc
      eval "$(dynamo completion zsh)"         in ~/.zshrc
      dynamo completion fish | source         in ~/.config/fish/config.fish
    """
    from .completion.suggestions import suggestions
    from .main import COMMANDS

    if not words:
        click.echo(SCRIPTS[shell], nl=False)
        return
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    split = _split(words[0])[1:] if shell == "bash" else list(words)
    cut = _before_last_break(split[-1]) if shell == "bash" and split else 0
    for each in suggestions(group, COMMANDS, split):
        value = each.value if each.value.startswith(":") else each.value[cut:]
        click.echo(value + (f"\t{' '.join(each.description.split())}" if each.description else ""))


def _split(line: str) -> list[str]:
    """The words of a line up to the cursor; the last may be empty, or have a quote that is not closed."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # within quotes
        return [*words, lexer.token]
    return words if line and not line[-1].isspace() else [*words, ""]


def _before_last_break(word: str) -> int:
    """How many characters bash takes for earlier words: it splits at `=` and `:` as well."""
    return max(word.rfind("="), word.rfind(":")) + 1
