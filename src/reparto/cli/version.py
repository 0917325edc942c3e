"""`reparto version`: what runs, and whose rules it follows."""

import platform

import click

from reparto import __version__
from reparto.cli.output import output_option, write_json, write_yaml

KUBERNETES = "1.37.2"  # the release whose code the rules were checked against (upstream-dra.md)

EPILOG = """\b
Examples:
  reparto version
  reparto version -o json
"""


@click.command(epilog=EPILOG)
@output_option("table", "json", "yaml")
def version(output: str) -> None:
    """Show the versions of Reparto, of the Kubernetes semantics it implements, and of Python."""
    versions = {"reparto": __version__, "kubernetes": KUBERNETES, "python": platform.python_version()}
    if output == "json":
        write_json(versions)
    elif output == "yaml":
        write_yaml(versions)
    else:
        click.echo(f"reparto {__version__}")
        click.echo(f"Kubernetes semantics {KUBERNETES}")
        click.echo(f"{platform.python_implementation()} {platform.python_version()}")
