"""Explanations of clusters and noise in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vicinal.report._tables import Column, Record, Table, cluster_name, readable

if TYPE_CHECKING:
    from vicinal.report.result import Perception


def explanation_table(result: Perception) -> Table:
    """What distinguishes each cluster, its rule, and its nearest cluster."""
    columns = [
        Column("cluster", "cluster", cluster_name, "cluster"),
        Column("features", "what distinguishes it", describe_features_with_effects, "text"),
        Column("rule", "rule", describe_rule, "text"),
        Column("nearest", "nearest cluster", cluster_name, "text"),
        Column("separate", "what separates the two", describe_features_with_effects, "text"),
    ]
    caption = (
        "Each cluster compared with the rows of all other clusters, and with its nearest cluster. Medians "
        "of numbers, fractions of categories, and the effect size with its 95 % interval: 1 if all rows of "
        "the cluster have larger values than all others, 0 if there is no difference, -1 if all have smaller "
        "ones. Precision is the fraction of the rows which fit the rule that are in the cluster, recall the "
        "fraction of the cluster that fits the rule, both on rows that were not used to find it."
    )
    return Table(columns, result.explanations.clusters, caption)


def noise_table(result: Perception) -> Table:
    """Why the least typical rows are noise."""
    columns = [
        Column("row", "row", kind="row"),
        Column("nearest", "nearest cluster", cluster_name, "text"),
        Column("reasons", "why it is noise", describe_reasons, "text"),
    ]
    caption = (
        "The rows with the highest noise scores, and the columns in which they are farthest from their "
        "nearest cluster, in robust standard deviations of this cluster."
    )
    return Table(columns, result.explanations.noise, caption)


def explanation_lines(result: Perception) -> list[str]:
    """The explanations as text: a few lines per cluster, a line per noise row."""
    lines = []
    for record in result.explanations.clusters:
        lines += [
            f"{cluster_name(record['cluster'])}: {describe_features_with_effects(record['features'])}",
            f"  rule: {describe_rule(record['rule'])}",
        ]
        if len(result.explanations.clusters) == 2:
            continue  # the nearest cluster is all others
        lines += [
            f"  nearest: {cluster_name(record['nearest'])}; what separates the two: "
            f"{describe_features_with_effects(record['separate'])}",
        ]
    lines += [
        f"noise row {result.data.ids[record['row']]}: {describe_reasons(record['reasons'])}, compared with "
        f"{cluster_name(record['nearest'])}"
        for record in result.explanations.noise[:3]
    ]
    return lines


def describe_features_with_effects(features: Sequence[Record]) -> str:
    """Columns and categories with their effect sizes."""
    return "; ".join(map(_describe_feature, features)) or "no column on its own"


def _describe_feature(feature: Record) -> str:
    interval = f"effect {feature['effect']:+.2f}, {feature['low']:+.2f} to {feature['high']:+.2f}"
    if "category" in feature:
        often = "is" if feature["effect"] > 0 else "is rarely"
        return (
            f"{feature['column']} {often} {feature['category']} ({feature['inside']:.0%}, others "
            f"{feature['outside']:.0%}; {interval})"
        )
    direction = "high" if feature["effect"] > 0 else "low"
    return (
        f"{feature['column']} {direction} (median {readable(feature['inside'])}, others "
        f"{readable(feature['outside'])}; {interval})"
    )


def describe_rule(rule: Record | None) -> str:
    """Conditions of a rule, and how well it holds."""
    if rule is None:
        return "too few rows for a rule"
    conditions = " and ".join(map(_describe_condition, rule["conditions"]))
    precision = "no row fits it" if rule["precision"] is None else f"{rule['precision']:.0%}"
    return f"{conditions} (precision {precision}, recall {rule['recall']:.0%})"


def _describe_condition(condition: Record) -> str:
    if "category" in condition:
        return (
            f"{condition['column']} is{'' if condition['is'] else ' not'} {condition['category']}"
        )
    return f"{condition['column']} {'>' if condition['above'] else '<='} {condition['value']:.15g}"


def describe_reasons(reasons: Sequence[Record]) -> str:
    """Values that are far from those of a cluster."""
    return "; ".join(
        f"{reason['column']} is {readable(reason['value'])} instead of about {readable(reason['typical'])} "
        f"({reason['deviation']:+.1f} standard deviations)"
        for reason in reasons
    )
