"""Whether numbers are better compared by their logarithms.

Amounts of money, sizes, durations and concentrations spread in proportion to their level: on a linear scale,
most of them are crowded near 0, and a few large ones are far from everything.
"""

from __future__ import annotations

import numpy as np

from vicinal.tables._modality import MIN_DISTINCT

# On a smaller range, a logarithm is almost linear.
MIN_RATIO = 10.0
# Powers of Box and Cox that the logarithm (power 0) is compared with.
OTHER_POWERS = (0.5, 1.0)


def is_log_scaled(numbers: np.ndarray) -> bool:
    """Whether positive numbers have a log scale; missing numbers do not count.

    The likelihood of Box and Cox (1964), the fit of a normal distribution to powers of the numbers, has to be
    larger for their logarithms than for their roots and for the numbers themselves.
    """
    known = numbers[~np.isnan(numbers)]
    if len(known) < MIN_DISTINCT or not known.min() > 0:
        return False
    logs = np.log(known)
    logs -= np.median(logs)
    if np.ptp(logs) < np.log(MIN_RATIO) or len(np.unique(known)) < MIN_DISTINCT:
        return False
    others = [
        _log_likelihood(np.expm1(power * logs) / power, power, logs) for power in OTHER_POWERS
    ]
    return _log_likelihood(logs, 0.0, logs) > max(others)


def _log_likelihood(values: np.ndarray, power: float, logs: np.ndarray) -> float:
    """Log-likelihood per number of a power, up to a constant; minus infinity if it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        variance = float(values.var())
    if not np.isfinite(variance):
        return -np.inf
    return -0.5 * float(np.log(variance)) + (power - 1.0) * float(logs.mean())
