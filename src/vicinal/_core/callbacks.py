"""scikit-learn's callbacks, where the installed version has them (1.9 and later)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn
    CallbackSupportMixin, with_callbacks = object, None


class FitCallbacks(CallbackSupportMixin):
    """Mixin of estimators whose `fit` is one task of the callbacks given to `set_callbacks`.

    Without callback support in scikit-learn, it does nothing.
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
        # The estimator is complete: no attributes have to be added to a copy of it.
        context.call_on_fit_task_end(estimator=estimator, reconstruction_attributes={}, **data)
        return result

    run_with_callbacks = with_callbacks(run_as_task)

    @functools.wraps(fit)
    def fit_with_callbacks(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        observed = any(
            hasattr(estimator, name) for name in ("_skl_callbacks", "_parent_callback_ctx")
        )
        # A fit that calls the fit of its base class is inside its task already.
        if not observed or hasattr(estimator, "_callback_fit_ctx"):
            return fit(estimator, *args, **kwargs)
        return run_with_callbacks(estimator, *args, **kwargs)

    return fit_with_callbacks
