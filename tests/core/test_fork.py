"""A child that is forked after a fit in its parent can fit too."""

import os
import subprocess
import sys

import pytest

# Four OpenMP threads whatever the machine has; the child ends itself where it would wait forever.
FIT_FORK_FIT = """
import os, signal, sys
import numpy as np
from sklearn.datasets import make_blobs
from vicinal import PerceptualClustering, SpectralClustering

X, y = make_blobs(600, centers=3, random_state=0)
model = {model}
first = model.fit_predict(X)
child = os.fork()
if not child:
    signal.alarm(60)
    os._exit(0 if np.array_equal(model.fit_predict(X), first) else 1)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize(
    "model",
    [
        "SpectralClustering(3, assign='kmeans', random_state=0)",
        "PerceptualClustering(3, random_state=0)",
    ],
)
def test_a_forked_child_fits_what_its_parent_fitted(model):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIT_FORK_FIT.format(model=model)],
        env={**os.environ, "OMP_NUM_THREADS": "4", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"
