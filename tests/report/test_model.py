"""A saved analysis assigns new rows to clusters; training rows keep exactly their results."""

import json
import struct
import zipfile

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from sklearn.metrics import adjusted_rand_score  # noqa: E402

import vicinal  # noqa: E402
from vicinal import PerceptualClustering  # noqa: E402
from vicinal.datasets import make_half_cylinders  # noqa: E402
from vicinal.exceptions import InvalidValueError  # noqa: E402
from vicinal.report import PerceptionModel  # noqa: E402


def blobs(n=60, seed=0):
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 5.0], [0.0, 9.0, -5.0]])
    which = np.repeat(np.arange(3), n // 3)
    return centers[which] + rng.normal(0, 1, (len(which), 3)), which


@pytest.fixture(scope="module")
def table():
    X, _ = blobs(90)
    frame = pd.DataFrame(X, columns=["height", "width", "depth"])
    frame["planet"] = 3.0
    frame.loc[[4, 40, 41], "width"] = np.nan
    frame.loc[[70], ["height", "depth"]] = np.nan
    return frame


@pytest.fixture(scope="module")
def result(table):
    return vicinal.perceive(table, ids=[f"row {i}" for i in range(90)], sample=50)


@pytest.fixture
def saved(result, tmp_path):
    return result.save(tmp_path / "model.vicinal")


def assert_same_as_training(assignment, result):
    np.testing.assert_array_equal(assignment.labels, result.labels)
    np.testing.assert_array_equal(assignment.noise_score, result.noise_score)
    np.testing.assert_array_equal(assignment.probabilities, result.probabilities)
    np.testing.assert_array_equal(assignment.known >= 0, True)


def test_training_rows_get_exactly_their_results_back(saved, result, table):
    model = PerceptionModel.load(saved)
    assert result.n_clusters == model.n_clusters == 3
    assert_same_as_training(model.assign(table), result)
    shuffled = table.iloc[::-1][["planet", "depth", "width", "height"]]
    np.testing.assert_array_equal(model.assign(shuffled).labels, result.labels[::-1])
    np.testing.assert_array_equal(model.assign(table.to_numpy()).labels, result.labels)
    np.testing.assert_array_equal(
        model.assign(table.to_dict("records")[3:6]).labels, result.labels[3:6]
    )


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "half-cylinders", "spirals"])
def test_real_tables_survive_the_file(name, perception, tmp_path):
    result = perception(name)
    model = PerceptionModel.load(result.save(tmp_path / "model.vicinal"))
    frame = pd.DataFrame(result.data.given)
    assert_same_as_training(model.assign(frame), result)


def test_logarithms_survive_the_file_and_the_snippet(tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 60)
    columns = {
        "amount": np.exp(rng.normal([0.0, 3.0, 6.0], 0.5, (60, 3)).T.ravel()),
        "height": rng.normal(170, 9, 180),
        "weight": np.exp(rng.normal([4.0, 2.0, 4.0], 0.3, (60, 3)).T.ravel()),
    }
    table = pd.DataFrame(columns)
    result = vicinal.perceive(table, n_clusters=3, random_state=0)
    assert "logarithms" in result.data.columns[0]["reason"]
    assert adjusted_rand_score(group, result.labels) > 0.95
    result.save(tmp_path / "model.vicinal")
    model = PerceptionModel.load(tmp_path / "model.vicinal")
    assert_same_as_training(model.assign(table), result)
    names = {"X": table}
    lines = [line for line in result.snippet().splitlines() if not line.startswith("X = ...")]
    exec("\n".join(lines), names)
    assert adjusted_rand_score(names["labels"], result.labels) == 1.0


def test_duplicates_and_a_table_of_two_distinct_rows_survive_the_file(tmp_path):
    X = np.repeat([[0.0, 1.0], [5.0, 2.0]], 6, axis=0)
    result = vicinal.perceive(X, n_clusters=2, sample=50, scaling="none")
    model = PerceptionModel.load(result.save(tmp_path / "model.vicinal"))
    assert_same_as_training(model.assign(X), result)
    np.testing.assert_array_equal(
        model.assign([[0.1, 1.0], [4.9, 2.0]]).labels, result.labels[[0, 6]]
    )


def test_new_rows_are_placed_as_perceptual_clustering_predicts():
    X, _ = make_half_cylinders(1000, 600, random_state=1)
    rng = np.random.default_rng(0)
    X = X[rng.permutation(len(X))]
    old, new = X[:1733], X[1733:]
    result = vicinal.perceive(old, n_clusters=2, sample=50, scaling="none")
    assert np.count_nonzero(result.labels < 0) > 50
    peer = PerceptualClustering(2, n_neighbors=result.neighborhoods.context, random_state=0).fit(
        old
    )
    np.testing.assert_array_equal(peer.labels_, result.labels)
    assigned = result.model().assign(new)
    assert np.mean(assigned.labels == peer.predict(new)) > 0.98
    assert ((assigned.noise_score > 0.5) == (assigned.labels < 0)).all()


def test_probabilities_sum_to_one_and_agree_with_the_clusters(result):
    X, which = blobs(300, seed=1)
    assigned = result.model().assign({"height": X[:, 0], "width": X[:, 1], "depth": X[:, 2]})
    np.testing.assert_allclose(assigned.probabilities.sum(axis=1), 1.0)
    expected = np.where(assigned.labels < 0, 3, assigned.labels)
    np.testing.assert_array_equal(assigned.probabilities.argmax(axis=1), expected)
    clustered = assigned.labels >= 0
    assert clustered.mean() > 0.97
    # Three blobs far apart: one cluster per blob.
    assert len(set(zip(which[clustered], assigned.labels[clustered], strict=True))) == 3


def test_nearest_rows_are_those_of_all_distances(result, table):
    complete = table.dropna()[["height", "width", "depth"]]
    new = np.array([[0.5, 0.5, 0.5], [8.0, 1.0, 4.0]])
    points = result.data.points
    new_rows = pd.DataFrame(new, columns=complete.columns).assign(planet=3.0)
    placed = result.data.encoder.transform(new_rows)
    assigned = result.model().assign(
        {"width": new[:, 1], "depth": new[:, 2], "height": new[:, 0]}, n_neighbors=4
    )
    distances = np.linalg.norm(placed[:, None] - points[None], axis=2)
    np.testing.assert_array_equal(assigned.nearest, np.argsort(distances, axis=1)[:, :4])
    np.testing.assert_allclose(assigned.distances, np.sort(distances, axis=1)[:, :4])
    assert assigned.nearest_ids[0, 0] == f"row {assigned.nearest[0, 0]}"
    assert len(complete) == 86


def test_a_row_far_from_all_training_rows_is_noise(result):
    far = result.model().assign({"height": [500.0], "width": [500.0], "depth": [0.0]})
    assert far.labels.tolist() == [-1]
    assert far.noise_score[0] > 0.9
    np.testing.assert_array_equal(far.probabilities, [[0, 0, 0, 1]])


def test_columns_are_matched_by_name_with_clear_errors(result, table):
    model = result.model()
    with pytest.raises(InvalidValueError, match=r"no column 'width'.*did you mean 'widht'"):
        model.assign(table.rename(columns={"width": "widht"}))
    with pytest.raises(InvalidValueError, match="no columns 'height', 'depth'"):
        model.assign(table[["width"]])
    with pytest.raises(InvalidValueError, match=r"shape \(90, 3\).*4 columns"):
        model.assign(table.to_numpy()[:, :3])
    with pytest.raises(InvalidValueError, match="'width' of X should be numeric"):
        model.assign(table.assign(width="wide"))
    extra = model.assign(table.assign(colour="red"))
    assert extra.notes == ["not used, since the model does not know it: 'colour'"]
    np.testing.assert_array_equal(extra.labels, result.labels)


def test_one_row_with_a_missing_value_is_placed(result):
    assigned = result.model().assign([{"height": 9.2, "width": None, "depth": 5.1}])
    expected = result.model().assign([{"height": 9.2, "width": 0.1, "depth": 5.1}])
    assert assigned.labels.tolist() == expected.labels.tolist()


def test_the_input_is_not_changed(result, table):
    before = table.copy()
    result.model().assign(table)
    pd.testing.assert_frame_equal(table, before)


def test_the_same_model_gives_the_same_bytes(result, tmp_path):
    paths = [result.save(tmp_path / name) for name in ("a.vicinal", "b.vicinal")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    again = PerceptionModel.load(paths[0]).save(tmp_path / "c.vicinal")
    assert again.read_bytes() == paths[0].read_bytes()


def test_drift_names_the_column_that_moved(result):
    X, _ = blobs(600, seed=2)
    same = result.model().assign({"height": X[:, 0], "width": X[:, 1], "depth": X[:, 2]})
    assert not any(record["changed"] for record in same.drift)
    moved = result.model().assign({"height": X[:, 0], "width": X[:, 1] + 30.0, "depth": X[:, 2]})
    first = moved.drift[0]
    assert (first["column"], first["changed"], first["outside"]) == ("width", True, 1.0)
    assert first["difference"] == 1.0
    assert first["missing_before"] == pytest.approx(3 / 90)
    assert [record["changed"] for record in moved.drift] == [True, False, False]
    assert "1 of 3 columns differ clearly from the training rows: 'width'" in moved.summary()
    assert moved.noise > same.noise


def test_a_failed_clustering_is_not_saved(result, tmp_path):
    import dataclasses

    failed = dataclasses.replace(result, failures={"clusters and noise": "MemoryError"})
    with pytest.raises(InvalidValueError, match="no clusters to keep"):
        failed.save(tmp_path / "model.vicinal")
    assert not list(tmp_path.iterdir())


# Files that are damaged, hostile, or of another version.


def rewrite(
    path, *, document=None, text=None, arrays=None, raw=None, compression=zipfile.ZIP_STORED
):
    """The model file with some members changed: JSON by a function, arrays by name, bytes by name."""
    import io

    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if document is not None:
        content = json.loads(members["model.json"])
        members["model.json"] = json.dumps(document(content) or content).encode()
    if text is not None:
        members["model.json"] = text(members["model.json"].decode()).encode()
    for name, array in (arrays or {}).items():
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=True)
        members[f"{name}.npy"] = buffer.getvalue()
    members |= raw or {}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            if content is not None:
                archive.writestr(name, content)
    return path


class Explosive:
    def __reduce__(self):
        return exec, ("raise SystemExit('code was run')",)


HOSTILE = {
    "pickled objects": (
        {"arrays": {"labels": np.array([Explosive()], dtype=object)}},
        "dtype object",
    ),
    "another dtype": ({"arrays": {"labels": np.zeros(90, dtype=np.float32)}}, "'labels' has dtype"),
    "another number of axes": ({"arrays": {"labels": np.zeros((90, 1), dtype=np.int64)}}, "2 axes"),
    "too few rows": ({"arrays": {"noise_score": np.zeros(5)}}, r"shape \(5,\) instead of \(90,\)"),
    "a cluster that does not exist": (
        {"arrays": {"labels": np.full(90, 3, dtype=np.int64)}},
        "'labels' has values outside -1 to 2",
    ),
    "a row number that does not exist": (
        {"arrays": {"group": np.full(90, 1 << 40, dtype=np.int64)}},
        "'group' has values outside",
    ),
    "probabilities that are not numbers": (
        {"arrays": {"probabilities": np.full((90, 4), np.nan)}},
        "'probabilities' has values outside",
    ),
    "an array is missing": ({"raw": {"points.npy": None}}, "'points'.* is missing"),
    "no description": ({"raw": {"model.json": None}}, "no model.json"),
    "a path": ({"raw": {"../../evil.npy": b"x"}}, "unknown member '../../evil.npy'"),
    "compression": ({"compression": zipfile.ZIP_DEFLATED}, "is compressed"),
    "a huge shape": (
        {
            "raw": {
                "labels.npy": b"\x93NUMPY\x01\x00\x76\x00"
                + b"{'descr': '<i8', 'fortran_order': False, 'shape': (999999999999999,), }".ljust(
                    117
                )
                + b"\n"
            }
        },
        "0 bytes instead of",
    ),
    "a newer version": (
        {"document": lambda d: d.update(format_version=3, vicinal_version="9.1")},
        "written by vicinal 9.1 in format 3.*upgrade vicinal",
    ),
    "another format": ({"document": lambda d: d.update(format="zip")}, "does not describe a model"),
    "no JSON": ({"raw": {"model.json": b"[" * 100_000}}, "not a model"),
    "NaN in JSON": (
        {"document": lambda d: d.update(context_scale=float("nan"))},
        "NaN is not a number",
    ),
    "ids of another length": (
        {"document": lambda d: d.update(ids=d["ids"][1:])},
        "89 names for 90 rows",
    ),
    "a key is missing": ({"document": lambda d: {k: d[k] for k in d if k != "context"}}, "damaged"),
    "text for numbers": (
        {"document": lambda d: d.update(context_scale="1")},
        "context_scale is '1'",
    ),
    "a unit of zero": (
        {"document": lambda d: d["preparation"]["encoding"]["codes"][0].update(unit=0.0)},
        "coordinates of a column contradict",
    ),
    "an integer beyond the largest float": (
        {"document": lambda d: d.update(context_scale=10**400)},
        "context_scale is 1000",
    ),
    "an infinite number": (
        {"text": lambda text: text.replace('"context_scale": ', '"context_scale": 1e999, "was": ')},
        "context_scale is inf",
    ),
    "an infinite scale of the noise score": (
        {
            "text": lambda text: text.replace(
                '"most_unusual_clustered": ', '"most_unusual_clustered": -1e999, "was": '
            )
        },
        "scales of the noise score",
    ),
    "scales of another length": (
        {"document": lambda d: d.update(noise_scales=[[1.0, 0.0, 1.0]])},
        "scales of the noise score",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_an_error_and_runs_nothing(kind, saved):
    changes, message = HOSTILE[kind]
    rewrite(saved, **changes)
    with pytest.raises(InvalidValueError, match=message) as error:
        PerceptionModel.load(saved)
    assert str(saved) in str(error.value)
    assert "vicinal perceive --save" in str(error.value)


def test_a_file_of_an_older_format_is_an_error(saved, monkeypatch):
    monkeypatch.setattr("vicinal.report._model_file.FORMAT_VERSION", 3)
    with pytest.raises(
        InvalidValueError, match=r"in format 2, but this version .* reads format 3;"
    ):
        PerceptionModel.load(saved)


def test_every_truncated_file_is_an_error(saved):
    content = saved.read_bytes()
    for length in np.linspace(0, len(content) - 1, 40).astype(int).tolist():
        saved.write_bytes(content[:length])
        with pytest.raises(InvalidValueError, match="not a model that vicinal can read"):
            PerceptionModel.load(saved)


def test_every_changed_byte_of_the_arrays_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    with zipfile.ZipFile(saved) as archive:
        arrays = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    for info in arrays:
        lengths = content[info.header_offset + 26 : info.header_offset + 30]
        start = info.header_offset + 30 + sum(struct.unpack("<HH", lengths))
        for position in np.linspace(start, start + info.compress_size - 1, 5).astype(int).tolist():
            changed = bytearray(content)
            changed[position] ^= 0xFF
            saved.write_bytes(changed)
            with pytest.raises(InvalidValueError):
                PerceptionModel.load(saved)


def test_members_that_claim_to_be_larger_than_the_file_are_an_error(saved):
    # Entries of the central directory that overlap are how zip bombs without compression are made.
    with zipfile.ZipFile(saved, "a") as archive:
        info = archive.getinfo("points.npy")
        info.file_size = info.compress_size = 1 << 40
        archive._didModify = True
    with pytest.raises(InvalidValueError, match="larger than the file"):
        PerceptionModel.load(saved)


def test_a_missing_file_or_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist; choose a file written by"):
        PerceptionModel.load(tmp_path / "none.vicinal")
    with pytest.raises(FileNotFoundError, match="is a folder"):
        PerceptionModel.load(tmp_path)
