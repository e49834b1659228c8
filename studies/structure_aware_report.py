"""Tables and figures of the study of structure-aware L1 graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies import structure_aware_l1 as study
from studies.experiments import Experiment, Rows, save_figure
from studies.structure_aware_l1 import ALL_ATOMS, FAMILIES, FRACTIONS, Moons, Setting
from studies.uci_sets import find_folder


def score_table(rows: Rows) -> list[list[str]]:
    """Every cell of Table 1 with the published value in brackets, and each graph at its best K per set.

    The last column counts the sets on which its NMI is at least that of our L1 graph with codes of the
    same form.
    """
    sets = list(dict.fromkeys(row["set"] for row in rows))
    head = ["graph", "K", *(f"{name} {metric}" for name in sets for metric in ("NMI", "AC"))]
    table = [[*head, "mean NMI", "NMI >= L1"]]
    for graph in (*ALL_ATOMS, *FAMILIES):
        base = "L1 penalised" if "penalised" in graph else "L1"
        baseline = [_find(rows, name, base, None) for name in sets]
        fractions = FRACTIONS if graph in FAMILIES else (None,)
        score_rows = [
            [_find(rows, name, graph, fraction) for name in sets] for fraction in fractions
        ]
        for fraction, scores in zip(fractions, score_rows, strict=True):
            table.append(
                [graph, "all" if fraction is None else f"{fraction:.0%}", *_cells(scores, baseline)]
            )
        if len(score_rows) > 1:
            best = [_best(column) for column in zip(*score_rows, strict=True)]
            table.append([graph, "best", *_cells(best, baseline)])
    return table


def moon_table(moons: Moons) -> list[list[str]]:
    """Edges of the graphs of the two moons within and across moons."""
    table = [["graph", "edges", "fraction of weight", "mean length"]]
    for row in moons.rows:
        fraction = f"{row['weight_across']:.1%}"
        is_preserved = row["graph"].startswith("10")
        table.append(
            [
                row["graph"],
                f"{row['edges']:,}",
                f"{fraction} of all" if is_preserved else f"{fraction} across moons",
                f"{row['mean_length']:.3f}",
            ]
        )
    return table


def draw_scores(rows: Rows, path: Path) -> None:
    """Bars of NMI, one group per data set."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    names = [*ALL_ATOMS, *FAMILIES]

    def fill(figure: Any) -> None:
        ax = figure.subplots()
        width = 0.8 / len(names)
        for i, name in enumerate(names):
            fractions = (None,) if name in ALL_ATOMS else FRACTIONS
            best = [
                max(_find(rows, set_name, name, fraction)["NMI"] for fraction in fractions)
                for set_name in sets
            ]
            ax.bar(np.arange(len(sets)) + i * width, best, width, label=name)
        ax.set_xticks(np.arange(len(sets)) + 0.4 - width / 2, sets)
        ax.set_ylabel("NMI at the best K")
        ax.legend(fontsize=7)

    save_figure(fill, (9.0, 3.6), path)


def draw_moons(moons: Moons, path: Path) -> None:
    """Two moons before and after normalisation, and both graphs on them."""
    from vicinal.plot import graph as draw

    def fill(figure: Any) -> None:
        panels = figure.subplots(2, 2).ravel()
        directions = moons.points / np.linalg.norm(moons.points, axis=1, keepdims=True)
        for ax, positions, title in (
            (panels[0], moons.points, "two moons"),
            (panels[1], directions, "scaled to length 1"),
        ):
            ax.scatter(*positions.T, c=moons.classes, cmap="coolwarm", s=8)
            ax.set_title(title)
        for ax, name in zip(panels[2:], moons.graphs, strict=False):
            draw(moons.graphs[name], values=moons.classes, cmap="coolwarm", ax=ax)
            ax.set_title(name)
        for ax in panels:
            ax.set_aspect("equal")

    save_figure(fill, (9.0, 7.0), path)


EXPERIMENTS = [
    Experiment(
        "table-1",
        study.cluster_scores,
        score_table,
        draw_scores,
        "the structure-aware graph generally clusters better than the L1 graph, on all six sets for at "
        "least one K.",
    ),
    Experiment(
        "figures-1-2",
        study.moon_graphs,
        moon_table,
        draw_moons,
        "normalisation changes neighbourhoods; with ranked dictionaries, codes stay on one moon.",
    ),
]


def plan(quick: bool, data: Path | None) -> tuple[Setting, list[Experiment]]:
    """Setting and experiments of ``python -m studies structure-aware-l1``."""
    setting = study.QUICK if quick else study.FULL
    return setting._replace(data=find_folder(data)), EXPERIMENTS


def _find(rows: Rows, name: str, graph: str, fraction: float | None) -> dict[str, Any]:
    return next(
        row
        for row in rows
        if row["set"] == name and row["graph"] == graph and row["fraction"] == fraction
    )


def _best(column: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Best NMI and best accuracy over K, measured and published."""
    best: dict[str, Any] = {}
    for metric in ("NMI", "AC", "paper_NMI", "paper_AC"):
        values = [row[metric] for row in column if row[metric] is not None]
        best[metric] = max(values) if values else None
    return best


def _cells(scores: list[dict[str, Any]], baseline: list[dict[str, Any]]) -> list[str]:
    cells = [
        _with_published(row[metric], row[f"paper_{metric}"])
        for row in scores
        for metric in ("NMI", "AC")
    ]
    published = [row["paper_NMI"] for row in scores if row["paper_NMI"] is not None]
    paper = float(np.mean(published)) if len(published) == len(scores) else None
    wins = sum(row["NMI"] >= other["NMI"] for row, other in zip(scores, baseline, strict=True))
    mean = float(np.mean([row["NMI"] for row in scores]))
    return [*cells, _with_published(mean, paper), f"{wins} of {len(scores)}"]


def _with_published(value: float, paper: float | None) -> str:
    return f"{value:.3f}" + ("" if paper is None else f" ({paper:.3f})")
