"""The dask worker that runs the current task, if there is one."""

from __future__ import annotations

import sys
from typing import Any


def current_worker() -> Any:
    """The `distributed.Worker` whose task the calling thread runs; None outside of tasks."""
    # A process that has not imported distributed is not a worker, and need not import it to find out.
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_worker()
    except (AttributeError, ValueError):  # not in a task, or still being imported
        return None
