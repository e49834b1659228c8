"""``vicinal explore``: the analysis of a table as a page in the browser, on this computer only."""

from __future__ import annotations

import argparse
import json
import shlex
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from vicinal._core.scalar_checks import check_count
from vicinal.cli.options import add_data, add_run_options, new_command
from vicinal.cli.perceive import (
    add_analysis_options,
    analyse,
    analysis_command,
    check_analysis_options,
)
from vicinal.exceptions import InvalidValueError

MAX_PORT = 65535
EXAMPLES = """\
examples:
  vicinal explore flowers.csv --label species
  vicinal explore cells.h5ad --key X_pca --clusters 12
  vicinal explore report.html --port 8800 --no-browser
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "explore",
        run,
        "explore the map of a table in the browser",
        "Analyse a table as 'perceive' does and show the page in the browser: select, filter, search, name "
        "and export rows.\nThe page is served on this computer only, at an address with a secret token, "
        "until the command is interrupted.\nA report that 'perceive' wrote is shown without analysing again.",
        EXAMPLES,
    )
    add_data(parser, "table of points, folder of images, or report (.html)")
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="port of the page (default: any free one)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address, but do not open a browser"
    )
    add_analysis_options(parser)
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Analyse the table, and serve its page until interrupted."""
    from vicinal.report import Explorer, explore

    check_count(arguments.port, "port", low=0, high=MAX_PORT)
    check_analysis_options(arguments)
    if arguments.data.suffix.lower() == ".vicinal":
        raise InvalidValueError(
            f"{arguments.data} is a saved model, which places new rows and holds no page; explore the table, "
            "or the report (.html) that 'vicinal perceive' wrote with it. 'vicinal assign NEW.csv --model "
            f"{arguments.data}' assigns new rows."
        )
    if arguments.data.suffix.lower() == ".html":
        explorer = Explorer(read_report(arguments.data), {}, port=arguments.port)
    else:
        command = shlex.join(analysis_command(arguments, "explore"))
        explorer = explore(analyse(arguments, command), port=arguments.port, open_browser=False)
    with explorer, suppress(KeyboardInterrupt):
        # Ctrl-C is how this command is left, unless it runs in the background, where it is ignored.
        if callable(signal.getsignal(signal.SIGINT)):
            signal.signal(signal.SIGINT, signal.default_int_handler)
        # While the page is served, so that another program can open it: one line of JSON.
        address = json.dumps({"url": explorer.url}) if arguments.json else explorer.url
        print(address, flush=True)
        if not arguments.no_browser:
            explorer.open_browser()
        explorer.wait()
    return {}


def read_report(path: Path) -> str:
    """A report that `perceive` wrote."""
    from vicinal.report._explorer import has_our_script, is_report

    text = path.read_text(encoding="utf-8", errors="replace")
    if not is_report(text):
        raise InvalidValueError(
            f"{path} is not a report of vicinal; pass one that 'vicinal perceive' wrote, or a table."
        )
    if not has_our_script(text):
        raise InvalidValueError(
            f"{path} does not have the script of this version, and no other is served; open the file itself "
            "in a browser, or write the report again with 'vicinal perceive'."
        )
    return text
