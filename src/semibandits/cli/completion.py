"""Scripts that make shells complete what is typed."""

import click
from click.shell_completion import ShellComplete, get_completion_class

SHELLS = ("bash", "zsh", "fish")


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
