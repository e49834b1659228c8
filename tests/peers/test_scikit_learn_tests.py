"""scikit-learn's own tests of its counterparts, run on our estimators through `sklearn_adapters`.

What still fails is listed with its reason; any other failure is a defect of ours.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

HERE = Path(__file__).parent

SOLVER = "no counterpart: the eigensolver is not chosen by the user"
QR = "no counterpart: assign_labels='cluster_qr'"
FLOAT32 = "other contract: affinities are float64, whatever the points are"
NEW_POINTS = (
    "other contract: a matrix of affinities does not determine the neighbours of new points"
)

EXPECTED_FAILURES = {
    "cluster.tests.test_spectral": {
        r"test_spectral_clustering(_sparse)?\[.*cluster_qr": QR,
        r"test_n_components": "no counterpart: as many eigenvectors as clusters are used",
        r"test_verbose": "other contract: verbose shows progress bars of long work, and prints nothing",
        r"test_spectral_clustering_not_infinite_loop": "other contract: an SVD that fails raises at once, "
        "without retries and so without the message about them",
    },
    "manifold.tests.test_spectral_embedding": {
        r"test_precomputed_nearest_neighbors_filtering": "other contract: its graph has 3 components, and "
        "without points there are no edges to connect them, which is an error here",
        r"test_spectral_embedding_unnormalized": "no counterpart: norm_laplacian=False",
        r"test_spectral_embedding_first_eigen_vector": "no counterpart: drop_first=False",
        r"test_spectral_embedding_preserves_dtype\[float32": FLOAT32,
        r"test_error_pyamg_not_available": SOLVER,
        r"test_spectral_eigen_tol_auto": SOLVER,
        r"test_fallback_amg": SOLVER,
    },
    "manifold.tests.test_isomap": {
        r"test_pipeline_with_nearest_neighbors_transformer": "other contract: all distances of a new row "
        "count; there the n_neighbors nearest of n_neighbors + 1",
        r"test_isomap_raise_error_when_neighbor_and_radius_both_set": "no counterpart: they are parameters "
        "of different graphs",
        r"test_multiple_connected_components_metric_precomputed": "other contract: the same error is a "
        "ValueError here, there a RuntimeError",
    },
    "semi_supervised.tests.test_label_propagation": {
        r"test_predict(_proba)?\[.*parameters2": NEW_POINTS,
        r"test_predict_sparse_callable_kernel": NEW_POINTS,
        r"test_sparse_input_types\[.*parameters2": NEW_POINTS,
        r"test_predict_proba\[.*parameters1": "other contract: n_neighbors counts the point itself there, so "
        "a new point has one neighbour more than a training point",
        r"test_label_propagation_build_graph_normalized": "other contract: its affinities are not symmetric, "
        "which is an error here",
        r"test_convergence_warning": "no counterpart: the limit is solved for, without iterations",
    },
}

# Tests of functions and classes of scikit-learn itself that have no adapter.
NOT_OURS = (
    "LabelSpreading or label_spreading or convergence_speed or cluster_qr_ or test_cluster_qr"
)
NOT_OURS += " or test_sparse_graph_connected_component or test_connectivity"


@pytest.mark.slow
@pytest.mark.parametrize("module", EXPECTED_FAILURES)
def test_what_scikit_learn_tests_of_its_own_holds_for_ours(module, tmp_path):
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(tmp_path)]
    command += ["-p", "no:cacheprovider", "-p", "sklearn_adapters", f"--junitxml={report}"]
    command += ["-k", f"not ({NOT_OURS})", "--pyargs", f"sklearn.{module}"]
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        command,
        cwd=HERE.parents[1],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = [
        case.get("name", "")
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    expected = re.compile("|".join(f"(?:{name})" for name in EXPECTED_FAILURES[module]))
    unexpected = [name for name in failed if not expected.match(name)]
    assert not unexpected, f"{unexpected}\n{done.stdout[-5000:]}"
    assert failed, "all tests pass: were the adapters in place?"
    assert len(cases) - len(failed) >= 10
