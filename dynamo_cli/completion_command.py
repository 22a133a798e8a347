"""`dynamo completion`."""

import shlex

import click

from .help_pages import CommandWithHelp

# What each shell evaluates: it asks `dynamo completion SHELL -- WORDS`, and shows the answer.
#
# An answer has a line for each suggestion, `VALUE<tab>DESCRIPTION`, and `:files`, `:folders` or `:commands`
# where the shell, which knows about `~` and quotes, should add its own.


# bash splits words at `:` and `=` too, and replaces only the last piece: the line is given as it is.
BASH = """\
_dynamo_complete() {
    local answer IFS=$'\\n' current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    for answer in $("$1" completion bash -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null); do
        case $answer in
        :files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$(_dynamo_piece "$current")")) ;;
        :folders) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$(_dynamo_piece "$current")")) ;;
        :commands) COMPREPLY+=($(compgen -c -- "$current")) ;;
        *) COMPREPLY+=("${answer%%$'\\t'*}") ;;
        esac
    done
}

_dynamo_piece() {
    case $1 in = | :) ;; *) printf %s "$1" ;; esac
}

complete -o nosort -F _dynamo_complete dynamo dynamo-cli
"""

ZSH = """\
#compdef dynamo dynamo-cli

_dynamo_complete() {
    local answer
    local -a suggestions others
    for answer in "${(@f)$("${(Q)words[1]}" completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $answer in
        :*) others+=($answer) ;;
        ?*) suggestions+=("${${answer%%$'\t'*}//:/\\:}:${${answer#*$'\t'}#$answer}") ;;
        esac
    done
    (( $#suggestions )) && _describe -V dynamo suggestions
    [[ -n $others && $PREFIX == --*=* ]] && compset -P '*='
    for answer in $others; do
        case $answer in
        :files) _files ;;
        :folders) _files -/ ;;
        :commands) _command_names -e ;;
        esac
    done
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _dynamo_complete "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
    compdef _dynamo_complete dynamo dynamo-cli
fi
"""

FISH = """\
function __dynamo_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l before (string match -r -- '^--[^=]*=' $words[-1])
    for answer in ($words[1] completion fish -- $words[2..-1] 2>/dev/null)
        switch $answer
            case :files
                for file in (__fish_complete_path (string replace -- "$before" '' $words[-1]))
                    echo "$before$file"
                end
            case :folders
                for folder in (__fish_complete_directories (string replace -- "$before" '' $words[-1]))
                    echo "$before$folder"
                end
            case :commands
                __fish_complete_command
            case '*'
                echo $answer
        end
    end
end

complete --command dynamo --no-files --arguments '(__dynamo_complete)'
complete --command dynamo-cli --no-files --arguments '(__dynamo_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


# `dynamo completion`.


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
    from .completion import suggestions
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
