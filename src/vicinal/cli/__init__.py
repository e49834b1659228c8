"""The command ``vicinal``: one module a subcommand.

A subcommand raises what the library raises; only here it becomes one line on stderr and an exit
code: 0 done, 2 an error the user can mend, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from vicinal import __version__
from vicinal.cli import demo, graph, reproduce, segment


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="vicinal",
        description="Proximity graphs and neighbourhood-based similarity of tables of points.",
        epilog="'vicinal COMMAND --help' shows examples of each command.",
    )
    parser.add_argument("--version", action="version", version=f"vicinal {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (graph, segment, reproduce, demo):
        module.add_to(commands)
    arguments = parser.parse_args(argv)
    try:
        arguments.run(arguments)
    except KeyboardInterrupt:
        print("vicinal: interrupted; no unfinished file was left behind", file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        print(f"vicinal: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0
