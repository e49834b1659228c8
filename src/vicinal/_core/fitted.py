"""Whether an estimator is fitted."""

from __future__ import annotations

from typing import Any


def check_is_fitted(model: Any) -> None:
    """scikit-learn's `check_is_fitted`, without its fixed cost for models that are fitted."""
    # Fitted attributes are set after the parameters.
    for name in reversed(vars(model)):
        if name[-1] == "_" and not name.startswith("__"):
            return
    from sklearn.utils import validation

    validation.check_is_fitted(model)
