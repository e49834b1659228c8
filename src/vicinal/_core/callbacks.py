"""What all public methods of estimators have: the run, and scikit-learn's callbacks (1.9 and later)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from vicinal._core.options import entry
from vicinal._core.pickles import Stamped

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn
    CallbackSupportMixin, with_callbacks = object, None


# These read and change parameters; they compute nothing.
WITHOUT_RUN = {"get_params", "set_params"}


class FitCallbacks(Stamped, CallbackSupportMixin):
    """Mixin of all estimators: their public methods use their ``n_jobs`` and ``verbose``.

    `fit` is reported as one task to the callbacks given to `set_callbacks`, if the installed scikit-learn
    has any.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if with_callbacks is not None and "fit" in vars(cls):
            cls.fit = _with_fit_task(cls.fit)
        for name, method in _own_methods(cls).items():
            setattr(cls, name, entry(method))


def _own_methods(cls: type) -> dict[str, FunctionType]:
    """Public methods of a class and of those mixins of it that are no estimators themselves."""
    owners = [c for c in cls.__mro__ if c is cls or not issubclass(c, FitCallbacks)]
    return {
        name: method
        for owner in owners
        if owner.__module__.partition(".")[0] == "vicinal"
        for name, method in vars(owner).items()
        if isinstance(method, FunctionType)
        and not name.startswith("_")
        and name not in WITHOUT_RUN
        and getattr(cls, name) is method
    }


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
