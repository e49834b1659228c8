"""The examples on the help pages run unchanged."""

import shlex
import shutil
from itertools import pairwise

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
anndata = pytest.importorskip("anndata")
pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")

from vicinal import perceive  # noqa: E402
from vicinal.cli import COMMANDS  # noqa: E402
from vicinal.datasets import make_two_moons  # noqa: E402

EXAMPLES = [
    line.strip()
    for module in COMMANDS
    if hasattr(module, "EXAMPLES")
    for line in module.EXAMPLES.splitlines()
    if line.startswith("  vicinal ")
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    X, _ = make_two_moons(60, random_state=0)
    result = perceive(pd.DataFrame(X, columns=["x", "y"]), n_clusters=2, sample=50)
    return result.save(tmp_path_factory.mktemp("model") / "customers.vicinal")


@pytest.fixture
def files(tmp_path, monkeypatch, request):
    """Files with the names that the examples use."""
    monkeypatch.chdir(tmp_path)
    if request.node.callspec.params["line"].startswith(("vicinal assign", "vicinal compare")):
        for name in ("customers", "january", "february"):
            shutil.copy(request.getfixturevalue("model"), f"{name}.vicinal")
    if request.node.callspec.params["line"].startswith("vicinal compare"):
        labels = pd.DataFrame({"id": range(9), "cluster": [0, 0, 0, 1, 1, 1, -1, 2, 2]})
        for name in ("labels.csv", "labelled.csv", "other.csv"):
            labels.assign(name=labels["id"], group=labels["cluster"]).to_csv(name, index=False)
    X, classes = make_two_moons(60, random_state=0)
    points = pd.DataFrame(X, columns=["x", "y"])
    points.to_csv("points.csv", index=False)
    points.to_parquet("points.parquet")
    points.assign(species=np.array(["setosa", "virginica"])[classes]).to_csv(
        "flowers.csv", index=False
    )
    names = ["Ada", "Grace", *(f"person {i}" for i in range(58))]
    for name in ("people.csv", "customers.csv", "new.csv"):
        points.assign(name=names).to_csv(name, index=False)
    for name in ("stock.csv", "wanted.csv"):
        points.assign(part=names).to_csv(name, index=False)
    for name in ("colour.csv", "shape.csv"):
        points.assign(name=names).to_csv(name, index=False)
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    for name in ("distances", "first", "second", "third"):
        np.save(f"{name}.npy", distances)
    np.savez("embeddings.npz", X=X, y=classes, part=np.array(["train", "test"])[np.arange(60) % 2])
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 40, (20, 24, 3)) + 200 * (np.arange(24) > 11)[None, :, None]
    Image.fromarray(picture.astype(np.uint8)).save("photo.jpg")
    Image.fromarray(picture.astype(np.uint8)).save("scan.png")
    np.save("values.npy", picture[..., 0].astype(float))
    (tmp_path / "pictures").mkdir()
    for i in range(24):
        grey = rng.integers(0, 40, (6, 6)) + 200 * (i % 2)
        Image.fromarray(grey.astype(np.uint8)).save(f"pictures/{i:02}.png")
    points.to_parquet("large.parquet")
    monkeypatch.setattr("vicinal.report.Explorer.wait", lambda explorer: None)
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    if request.node.callspec.params["line"].startswith("vicinal explore"):
        perceive(X, n_clusters=2, sample=50).to_html("report.html")
    kinds = np.arange(240) % 12
    cells = anndata.AnnData(np.ones((240, 1)), obs={"cell_type": [f"type {i}" for i in kinds]})
    cells.obsm["X_pca"] = 20 * np.eye(12)[kinds] + rng.normal(size=(240, 12))
    cells.write_h5ad("cells.h5ad")
    return tmp_path


def test_there_are_examples():
    commands = {line.split()[1] for line in EXAMPLES}
    assert {"graph", "cluster", "embed", "rank", "smooth", "segment", "perceive"} <= commands


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_example_runs_and_writes_its_files(line, files, run):
    args = shlex.split(line)[1:]
    assert run(*args) == 0
    named = [b for a, b in pairwise(args) if a in ("-o", "--plot", "--labels", "--save")]
    assert all((files / name).stat().st_size > 0 for name in named)
