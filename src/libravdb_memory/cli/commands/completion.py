"""completion: the script that teaches a shell the commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from libravdb_memory.cli.invocation import command


@command("completion", to_people_only=True)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash:  libravdb completion bash >> ~/.bashrc
    zsh:   libravdb completion zsh >> ~/.zshrc
    fish:  libravdb completion fish > ~/.config/fish/completions/libravdb.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "the three shells are click's own"
    click.echo(kind(context.find_root().command, {}, "libravdb", "_LIBRAVDB_COMPLETE").source())


COMMANDS = {"completion": completion}
