"""The order in which nodes are stored for products changes neither neighbours nor their recall."""

import numpy as np
import pytest

from vicinal import SelfSmoothing
from vicinal.similarity.smoothing import _locality


@pytest.mark.parametrize("t", [8, 9])
def test_neighbours_do_not_depend_on_the_order_of_the_nodes(t, monkeypatch):
    X = np.random.default_rng(0).random((600, 2))

    def neighbors():
        model = SelfSmoothing(t, n_neighbors=8, method="sparse").fit(X)
        similarities, indices = model.kneighbors(n_neighbors=10)
        assert model.similarity_.method == "pruned powers"
        return similarities, indices, model.similarity_

    similarities, indices, given = neighbors()
    monkeypatch.setattr(_locality, "MIN_NODES", 2)
    assert not np.array_equal(_locality.local_order(given._walk.weights).ids, np.arange(600))
    local_similarities, local_indices, local = neighbors()
    np.testing.assert_allclose(local_similarities, similarities, rtol=1e-6)
    exact = given.rows(np.arange(600))
    np.testing.assert_allclose(
        np.take_along_axis(exact, local_indices, axis=1),
        np.take_along_axis(exact, indices, axis=1),
        rtol=1e-5,
    )
    assert local.recall == given.recall > 0.99
