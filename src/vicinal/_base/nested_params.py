"""Entries of ``graph_params`` as parameters of the estimator, for grid searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from sklearn.base import BaseEstimator

from vicinal._core.callbacks import FitCallbacks

PREFIX = "graph_params__"


class NestedGraphParams(FitCallbacks, BaseEstimator):
    """Mixin that exposes ``graph_params["n_neighbors"]`` as ``graph_params__n_neighbors``."""

    graph_params: dict[str, Any] | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the entries of ``graph_params``, as ``graph_params__<name>``.

        Returns
        -------
        dict
            Parameter names mapped to their values.
        """
        params = super().get_params(deep)
        given = params.get("graph_params")
        if deep and isinstance(given, Mapping):
            params |= {f"{PREFIX}{name}": value for name, value in given.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set the parameters of this estimator.

        Parameters
        ----------
        **params
            ``graph_params__<name>`` sets one entry of ``graph_params`` and keeps the others, for
            instance in ``GridSearchCV(model, {"graph_params__n_neighbors": [5, 10]})``.

        Returns
        -------
        self
        """
        nested = {name for name in params if name.startswith(PREFIX)}
        super().set_params(**{name: params[name] for name in params if name not in nested})
        if nested:
            # Do not modify the old dict: it may belong to the caller or to another estimator.
            entries = {name.removeprefix(PREFIX): params[name] for name in params if name in nested}
            self.graph_params = {**(self.graph_params or {}), **entries}
        return self
