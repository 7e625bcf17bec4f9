"""`alicia doctor`: what is wrong and how to mend it."""

from typing import Annotated

import typer


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check every part, and say how to mend what is wrong."""
    import asyncio
    import json
    import os
    from dataclasses import asdict

    from alicia.local.doctor import examine

    findings = asyncio.run(examine(os.environ))
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            print(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.part:<15} {finding.text}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)
