"""`reparto completion SHELL`: the script that makes the shell complete commands and options; and the same for `kubectl reparto`.

kubectl completes a plugin by running `kubectl_complete-<plugin>` with the words typed so far; the package installs that program.
"""

import sys

import click
from click.shell_completion import ShellComplete, get_completion_class

EPILOG = """\b
Examples:
  reparto completion bash >> ~/.bashrc
  reparto completion zsh > "${fpath[1]}/_reparto"
  reparto completion fish > ~/.config/fish/completions/reparto.fish

\b
`kubectl reparto` is completed by kubectl's own completion (kubectl 1.26 or newer), once kubectl_complete-reparto is on the PATH,
where the installation puts it beside kubectl-reparto.
"""

# Of cobra, which kubectl is made with (ShellCompDirective): the sum says what the shell does with the answers.
_FILES_TOO = 0
_NO_FILES = 4


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes reparto's commands and options in SHELL."""
    kind = get_completion_class(shell)
    if kind is None:  # click knows all three; a build without one says so instead of failing
        raise click.ClickException(f"no completion for {shell} in this version of click")
    root = context.find_root().command
    click.echo(kind(root, {}, "reparto", "_REPARTO_COMPLETE").source())


def complete_for_kubectl() -> None:
    """The program `kubectl_complete-reparto`: a candidate a line for the last argument, and `:N`, what the shell does with them."""
    from reparto.cli.main import root

    *before, begun = sys.argv[1:] or [""]
    found = ShellComplete(root, {}, "kubectl reparto", "").get_completions(before, begun)
    for item in found:
        if item.type == "plain":
            click.echo(f"{item.value}\t{item.help}" if item.help else item.value)
    click.echo(f":{_FILES_TOO if any(item.type != 'plain' for item in found) else _NO_FILES}")
