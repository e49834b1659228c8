"""The shared part of discrete columns: continuous points, any table of the same rows, JSON."""

import numpy as np
import pytest

from benchmarks.table_generators import make_mixed_table
from vicinal import SpectralClustering
from vicinal.metrics import clustering_accuracy
from vicinal.tables import TableEncoder
from vicinal.tables._shared_json import shared_part_from_json, shared_part_to_json


def test_equal_rows_get_equal_points_and_other_rows_others():
    table, _ = make_mixed_table(200, n_numeric=0, missing=0.2, random_state=0)
    twice = {name: np.concatenate([column, column]) for name, column in table.items()}
    points = TableEncoder().fit_transform(twice)
    np.testing.assert_array_equal(points[:200], points[200:])


def test_rows_get_the_same_points_alone_as_in_a_table():
    table, _ = make_mixed_table(200, missing=0.1, random_state=0)
    encoder = TableEncoder().fit(table)
    points = encoder.transform(table)
    part = encoder.transform({name: column[50:57] for name, column in table.items()})
    np.testing.assert_allclose(part, points[50:57], atol=1e-9)


def test_groups_are_much_wider_apart_than_in_indicators():
    table, group = make_mixed_table(300, n_numeric=0, random_state=0)

    def separation(points):
        centers = np.array([points[group == g].mean(axis=0) for g in range(3)])
        within = points - centers[group]
        gaps = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(3, 1)]
        return gaps.min() / np.sqrt((within**2).sum(axis=1).mean())

    shared = separation(TableEncoder().fit_transform(table))
    assert shared > 1.5 * separation(TableEncoder(categories="indicators").fit_transform(table))


def test_points_with_indicators_have_the_distances_of_the_metric():
    table, _ = make_mixed_table(60, random_state=0)
    encoder = TableEncoder(categories="indicators").fit(table)
    points = encoder.transform(table)
    differences = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(differences, encoder.distances(table), atol=1e-6)


def test_columns_with_a_given_weight_stay_as_they_are():
    table, _ = make_mixed_table(100, n_numeric=2, n_categorical=3, n_noise=1, random_state=0)
    encoder = TableEncoder(weights={"noise category 1": 2.0}).fit(table)
    names = encoder.get_feature_names_out().tolist()
    points = encoder.transform(table)
    assert points.shape[1] == len(names) == len(set(names))
    own = points[:, [names.index(f"noise category 1_kind {c}") for c in "AB"]]
    np.testing.assert_allclose(np.unique(own), [0.0, 1.0])


def test_a_shared_part_survives_json_exactly():
    import json

    table, _ = make_mixed_table(120, n_numeric=1, missing=0.1, random_state=0)
    encoder = TableEncoder().fit(table)
    sizes = np.bincount(encoder.metric_.column_of).tolist()
    state = json.loads(json.dumps(shared_part_to_json(encoder._shared)))
    again = shared_part_from_json(
        state, sizes, encoder.metric_.nominal.tolist(), encoder.metric_.weights
    )
    rows = encoder._completer.complete(encoder._rows)
    np.testing.assert_array_equal(again.project(rows), encoder._shared.project(rows))
    assert again.n_coordinates == encoder.transform(table).shape[1]


@pytest.mark.parametrize("seed", [1, 2, 13])
def test_rows_are_not_grouped_by_their_number_of_missing_values(seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, 600)
    table = {}
    for j in range(7):
        typical, other = rng.permutation(2)[group], rng.integers(0, 4, 600)
        values = np.where(rng.random(600) < 0.85, typical, other).astype(str).astype(object)
        values[rng.random(600) < 0.2] = None
        table[f"c{j}"] = values
    points = TableEncoder().fit_transform(table)
    labels = SpectralClustering(2, random_state=0).fit_predict(points)
    assert clustering_accuracy(group, labels) > 0.97


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("residual", -1.0),
        ("kept", [999]),
        ("kept", [0, 0]),
        ("log_prior", [0.0]),
        ("coefficients", [[0.0, 0.0]]),
        ("centers", [[np.nan] * 3] * 3),
        ("discrete", [True]),
        ("columns", []),
    ],
)
def test_a_damaged_shared_part_is_an_error(key, value):
    table, _ = make_mixed_table(120, n_numeric=1, random_state=0)
    encoder = TableEncoder().fit(table)
    sizes = np.bincount(encoder.metric_.column_of).tolist()
    state = shared_part_to_json(encoder._shared) | {key: value}
    with pytest.raises((ValueError, IndexError)):
        shared_part_from_json(
            state, sizes, encoder.metric_.nominal.tolist(), encoder.metric_.weights
        )
