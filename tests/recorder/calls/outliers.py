"""Scores of unusual points."""

import numpy as np

import vicinal

from .. import inputs
from ..call import fit, odd
from ..expect import array, error, has
from ..inputs import Input, dense, one_row

SCORED = has(outlier_score_=array(90), labels_=array(90, dtype=np.int64))
FORMS = [X for X in inputs.FORMS if X not in (inputs.sparse, one_row)]


def _with_outlier():
    return np.vstack([dense.make()[:-1], [[50.0, 50, 50]]])


OUTLIER = Input("an outlier", _with_outlier, dense.new)
FOUND = has(labels_=lambda labels: np.testing.assert_array_equal(labels[-1], -1))

CALLS = [
    *(fit(vicinal.OutlierDetector, X, expect=SCORED) for X in FORMS),
    fit(vicinal.OutlierDetector, OUTLIER, expect=FOUND),
    fit(vicinal.OutlierDetector, OUTLIER, contamination=0.1, expect=FOUND),
    fit(vicinal.OutlierDetector, dense, metric="manhattan", expect=SCORED),
    fit(vicinal.OutlierDetector, dense, novelty=True, fdr=0.2, expect=SCORED),
    fit(vicinal.OutlierDetector, dense, fdr=0.2, expect=error("fdr=0.2")),
    odd(vicinal.OutlierDetector, inputs.ODD, takes=[inputs.overflow]),
    fit(vicinal.OutlierDetector, dense, contamination=2.0, expect=error("contamination=2")),
]
