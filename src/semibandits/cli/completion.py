"""The command `completion`: scripts that make shells complete what is typed."""

import os

import click
from click.shell_completion import (
    BashComplete,
    ShellComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

SHELLS = ("bash", "zsh", "fish")


@add_completion_class
class Bash(BashComplete):
    """Words as people see them: bash itself breaks them at colons and equals signs."""

    source_template = """\
%(complete_func)s() {
    local typed="${COMP_LINE:0:COMP_POINT}" type value
    local word="${typed##* }"
    local before="${word%%"${word##*[:=]}"}"  # what bash takes for words of their own

    while IFS=, read -r type value; do
        if [[ $type == file ]]; then
            compopt -o default
        elif [[ $type == plain ]]; then
            [[ $value == *= ]] && compopt -o nospace
            COMPREPLY+=("${value#"$before"}")
        fi
    done < <(env COMP_TYPED="$typed" %(complete_var)s=bash_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        typed = os.environ["COMP_TYPED"]
        words = split_arg_string(typed)
        incomplete = "" if typed[-1:].isspace() else words.pop()
        return words[1:], incomplete


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that makes your shell complete names.

    Commands, options, policies, problems, sets, files to begin with: press Tab.

    Put it where your shell looks for such scripts, and open a new terminal:

    \b
    bash   mkdir -p ~/.local/share/bash-completion/completions
           semibandits completion bash > ~/.local/share/bash-completion/completions/semibandits
    zsh    semibandits completion zsh > ~/.semibandits-complete.zsh
           echo 'source ~/.semibandits-complete.zsh' >> ~/.zshrc     (after compinit)
    fish   semibandits completion fish > ~/.config/fish/completions/semibandits.fish
    """
    maker = get_completion_class(shell)
    assert maker is not None
    command = ctx.find_root().command
    # Not the maker's own `source`, which looks for a bash on this machine.
    click.echo(ShellComplete.source(maker(command, {}, "semibandits", "_SEMIBANDITS_COMPLETE")))
