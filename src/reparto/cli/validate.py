"""`reparto validate`: what the API server would say of objects in files, before anybody applies them."""

import sys

import click

from reparto.cli.inputs import Inputs, input_options
from reparto.cli.output import output_option

EPILOG = """\b
Examples:
  reparto validate -f claim.yaml                     one file
  reparto validate --context prod -f manifests/      a folder, as updates of what a cluster has
  reparto validate -f manifests/ --strict            a folder; what only a server writes must be there, too
  reparto validate -f manifests/ --kubernetes-version 1.34 --feature-gates DRAPartitionableDevices=true
  kubectl get resourceslices -o yaml | reparto validate -f -
  reparto validate -f cluster.json -o json | jq -r '.errors[] | "\\(.file):\\(.line) \\(.path)"'

\b
Exit code: 0 everything is valid; 2 something cannot be used, with file, line, field and what to write instead.
"""


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@input_options
@output_option()
def validate(inputs: Inputs, output: str) -> None:
    """Show what the API server would say of these objects.

    Every error of every file is listed, each with file, line, field, what was found and what to write. Fields that a trimmed
    dump lacks are warnings. Selectors are compiled.
    """
    from reparto.cli.render_validate import Survey, render

    survey = Survey(inputs.namespace)
    intake = inputs.read(visit=survey.add)
    render(survey, intake, output, inputs.verbose)
    sys.exit(2 if intake.errors else 0)
