"""The examples on the help pages are run as they stand there."""

import shlex
from itertools import pairwise

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")

from vicinal.cli import COMMANDS  # noqa: E402
from vicinal.datasets import make_two_moons  # noqa: E402

EXAMPLES = [
    line.strip()
    for module in COMMANDS
    if hasattr(module, "EXAMPLES") and not module.__name__.endswith((".bench", ".perceive"))
    for line in module.EXAMPLES.splitlines()
    if line.startswith("  vicinal ")
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files by the names that examples use."""
    monkeypatch.chdir(tmp_path)
    X, classes = make_two_moons(60, random_state=0)
    points = pd.DataFrame(X, columns=["x", "y"])
    points.to_csv("points.csv", index=False)
    points.to_parquet("points.parquet")
    points.assign(species=np.array(["setosa", "virginica"])[classes]).to_csv(
        "flowers.csv", index=False
    )
    names = ["Ada", "Grace", *(f"person {i}" for i in range(58))]
    points.assign(name=names).to_csv("people.csv", index=False)
    np.save("distances.npy", np.linalg.norm(X[:, None] - X[None], axis=-1))
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 40, (20, 24, 3)) + 200 * (np.arange(24) > 11)[None, :, None]
    Image.fromarray(picture.astype(np.uint8)).save("photo.jpg")
    Image.fromarray(picture.astype(np.uint8)).save("scan.png")
    np.save("values.npy", picture[..., 0].astype(float))
    return tmp_path


def test_there_are_examples():
    commands = {line.split()[1] for line in EXAMPLES}
    assert {"graph", "cluster", "embed", "rank", "smooth", "segment"} <= commands


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_example_runs_and_writes_what_it_names(line, files, run):
    words = shlex.split(line)[1:]
    assert run(*words) == 0
    named = [b for a, b in pairwise(words) if a in ("-o", "--plot", "--labels")]
    assert all((files / name).stat().st_size > 0 for name in named)
