"""What is measured: sizes, contenders and the target of each case."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Case:
    """One task on one set of points.

    ``max_ratio`` limits the time of vicinal relative to the fastest peer, ``ratio_to`` relative to one
    peer by name, and ``max_seconds`` limits the time itself. ``k`` scales the memory limit, which is
    200 bytes * n * k besides the result: the number of neighbours, the number of spanning trees, or
    "degree", the mean degree of the result. With ``cold`` the first call of a new process counts,
    including imports and compilation; otherwise the best of three later calls. With ``once`` there is
    only one call, for cases that take many minutes. ``max_bytes`` limits the memory of the whole process;
    ``recall`` is the minimum fraction of true neighbours in a result. If results have a score, named by
    ``measure``, it is compared with the scores of the peers.
    """

    name: str
    task: str
    n: int
    d: int
    k: int | str | None
    peers: tuple[str, ...]
    max_ratio: float | None = None
    max_seconds: float | None = None
    ratio_to: tuple[str, float] | None = None
    cold: bool = False
    once: bool = False
    recall: float = 1.0
    points: str = "uniform"
    max_bytes: float | None = None
    measure: str = ""

    def quick(self) -> Case:
        """The same case on few points and without targets, to check that everything runs."""
        n = max(1000, self.n // 50)
        return replace(
            self, n=n, k=None, max_ratio=None, max_seconds=None, ratio_to=None, max_bytes=None
        )


TREES = ("quitefastmst", "fast_hdbscan")
SEARCHES = ("scipy cKDTree", "scikit-learn", "faiss flat")
INDEXES = ("hnswlib", "usearch", "faiss IVF", "faiss HNSW")

GRAPHS = [
    *(
        Case(f"mst n={n:,} D={d}", "mst", n, d, 1, TREES, max_ratio=1.2)
        for n in (100_000, 1_000_000)
        for d in (2, 3)
    ),
    *(
        Case(f"mst n=10,000 D={d}", "mst", 10_000, d, 1, (*TREES, "scipy dense"), max_ratio=1.2)
        for d in (16, 128)
    ),
    Case(
        "mst n=100,000 D=128",
        "mst",
        100_000,
        128,
        None,
        (),
        once=True,
        max_bytes=1e9,
    ),
    Case("disjoint_mst t=4", "disjoint_mst", 100_000, 3, 4, ("vicinal mst",), max_ratio=8.0),
    Case("perturbed_mst T=20", "perturbed_mst", 100_000, 3, 20, ("vicinal mst",), max_ratio=20.0),
    *(
        case
        for task in ("gabriel", "relative_neighborhood")
        for case in (
            Case(f"{task} D=2", task, 10_000, 2, "degree", ("libpysal", "nglpy"), max_ratio=0.5),
            Case(
                f"{task} D=3",
                task,
                10_000,
                3,
                "degree",
                ("nglpy",),
                max_seconds=1.0,
                ratio_to=("nglpy", 1 / 20),
            ),
            Case(f"{task} D=10", task, 10_000, 10, "degree", ("nglpy",), max_seconds=20.0),
        )
    ),
    *(
        Case(f"knn exact D={d}", "knn_exact", 100_000, d, 15, SEARCHES, max_ratio=ratio)
        for d, ratio in ((3, 1.0), (16, 1.0), (128, 1 / 1.5))
    ),
    Case(
        "knn approximate D=128",
        "knn_approximate",
        100_000,
        128,
        15,
        INDEXES,
        max_ratio=1.0,
        cold=True,
        recall=0.99,
        points="curved",
    ),
]
