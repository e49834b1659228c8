"""Support for scikit-learn's callbacks (scikit-learn 1.9 and later)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from vicinal._core.pickles import Stamped

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn
    CallbackSupportMixin, with_callbacks = object, None


class FitCallbacks(Stamped, CallbackSupportMixin):
    """Mixin of all estimators, which reports `fit` as one task to the callbacks given to `set_callbacks`.

    Reports nothing if the installed scikit-learn has no callbacks.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if with_callbacks is not None and "fit" in vars(cls):
            cls.fit = _with_fit_task(cls.fit)


def _with_fit_task(fit: Callable[..., Any]) -> Callable[..., Any]:
    def run_as_task(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        data = dict(zip(("X", "y"), args, strict=False))
        data |= {name: kwargs[name] for name in ("X", "y") if name in kwargs}
        context = estimator._init_callback_context()
        context.call_on_fit_task_begin(estimator=estimator, **data)
        result = fit(estimator, *args, **kwargs)
        # The estimator is fully fitted, so callbacks need no further attributes to use it.
        context.call_on_fit_task_end(estimator=estimator, reconstruction_attributes={}, **data)
        return result

    run_with_callbacks = with_callbacks(run_as_task)

    @functools.wraps(fit)
    def fit_with_callbacks(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        has_callbacks = any(
            hasattr(estimator, name) for name in ("_skl_callbacks", "_parent_callback_ctx")
        )
        # A `fit` that is called by the `fit` of a subclass already runs inside its task.
        if not has_callbacks or hasattr(estimator, "_callback_fit_ctx"):
            return fit(estimator, *args, **kwargs)
        return run_with_callbacks(estimator, *args, **kwargs)

    return fit_with_callbacks
