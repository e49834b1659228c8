"""Tables and figures of the study of structure-aware L1 graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vicinal.studies import structure_aware_l1 as study
from vicinal.studies.experiments import Experiment, Rows, save_figure
from vicinal.studies.structure_aware_l1 import FAMILIES, SHARES, WHOLE, Moons, Setting
from vicinal.studies.uci_sets import find_folder


def score_table(rows: Rows) -> list[list[str]]:
    """Every cell of Table 1, the paper's in brackets, and each kind of graph at the K best for a set.

    The last column counts the sets on which its NMI is at least that of our L1 graph with codes of the
    same form.
    """
    sets = list(dict.fromkeys(row["set"] for row in rows))
    head = ["graph", "K", *(f"{name} {what}" for name in sets for what in ("NMI", "AC"))]
    table = [[*head, "mean NMI", "NMI >= L1"]]
    for graph in (*WHOLE, *FAMILIES):
        base = "L1 penalised" if "penalised" in graph else "L1"
        baseline = [_find(rows, name, base, None) for name in sets]
        shares = SHARES if graph in FAMILIES else (None,)
        lines = [[_find(rows, name, graph, share) for name in sets] for share in shares]
        for share, line in zip(shares, lines, strict=True):
            table.append(
                [graph, "all" if share is None else f"{share:.0%}", *_cells(line, baseline)]
            )
        if len(lines) > 1:
            best = [_best(column) for column in zip(*lines, strict=True)]
            table.append([graph, "best", *_cells(best, baseline)])
    return table


def moon_table(found: Moons) -> list[list[str]]:
    """Edges of the graphs of the two moons within and across moons."""
    table = [["graph", "edges", "share of the weight", "mean length"]]
    for row in found.rows:
        share = f"{row['weight_across']:.1%}"
        kept = row["graph"].startswith("10")
        table.append(
            [
                row["graph"],
                f"{row['edges']:,}",
                f"{share} of all" if kept else f"{share} across moons",
                f"{row['mean_length']:.3f}",
            ]
        )
    return table


def draw_scores(rows: Rows, path: Path) -> None:
    """Bars of NMI, one group per data set."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    names = [*WHOLE, *FAMILIES]

    def fill(figure: Any) -> None:
        ax = figure.subplots()
        width = 0.8 / len(names)
        for number, name in enumerate(names):
            shares = (None,) if name in WHOLE else SHARES
            best = [max(_find(rows, of, name, share)["NMI"] for share in shares) for of in sets]
            ax.bar(np.arange(len(sets)) + number * width, best, width, label=name)
        ax.set_xticks(np.arange(len(sets)) + 0.4 - width / 2, sets)
        ax.set_ylabel("NMI at the best K")
        ax.legend(fontsize=7)

    save_figure(fill, (9.0, 3.6), path)


def draw_moons(found: Moons, path: Path) -> None:
    """Two moons before and after normalisation, and both graphs on them."""
    from vicinal.plot import graph as draw

    def fill(figure: Any) -> None:
        panels = figure.subplots(2, 2).ravel()
        directions = found.points / np.linalg.norm(found.points, axis=1, keepdims=True)
        for ax, where, title in (
            (panels[0], found.points, "two moons"),
            (panels[1], directions, "scaled to length 1"),
        ):
            ax.scatter(*where.T, c=found.classes, cmap="coolwarm", s=8)
            ax.set_title(title)
        for ax, name in zip(panels[2:], found.graphs, strict=False):
            draw(found.graphs[name], values=found.classes, cmap="coolwarm", ax=ax)
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
        "the structure-aware graph clusters better than the L1 graph generally, at one or more K on "
        "all six sets.",
    ),
    Experiment(
        "figures-1-2",
        study.moon_graphs,
        moon_table,
        draw_moons,
        "normalisation changes neighbourhoods; ranked dictionaries keep codes on a moon.",
    ),
]


def plan(quick: bool, data: Path | None) -> tuple[Setting, list[Experiment]]:
    """Setting and experiments of ``vicinal reproduce structure-aware-l1``."""
    setting = study.QUICK if quick else study.FULL
    return setting._replace(data=find_folder(data)), EXPERIMENTS


def _find(rows: Rows, name: str, graph: str, share: float | None) -> dict[str, Any]:
    return next(
        row
        for row in rows
        if row["set"] == name and row["graph"] == graph and row["share"] == share
    )


def _best(column: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Best NMI and best accuracy over K, of ours and of the paper's."""
    best: dict[str, Any] = {}
    for what in ("NMI", "AC", "paper_NMI", "paper_AC"):
        values = [row[what] for row in column if row[what] is not None]
        best[what] = max(values) if values else None
    return best


def _cells(line: list[dict[str, Any]], baseline: list[dict[str, Any]]) -> list[str]:
    cells = [_beside(row[what], row[f"paper_{what}"]) for row in line for what in ("NMI", "AC")]
    printed = [row["paper_NMI"] for row in line if row["paper_NMI"] is not None]
    paper = float(np.mean(printed)) if len(printed) == len(line) else None
    wins = sum(row["NMI"] >= other["NMI"] for row, other in zip(line, baseline, strict=True))
    mean = float(np.mean([row["NMI"] for row in line]))
    return [*cells, _beside(mean, paper), f"{wins} of {len(line)}"]


def _beside(ours: float, paper: float | None) -> str:
    return f"{ours:.3f}" + ("" if paper is None else f" ({paper:.3f})")
