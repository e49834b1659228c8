"""Explanations of clusters and noise in words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from vicinal.report._tables import Column, Record, Table, cluster_name
from vicinal.report._value_text import Formats, readable, value_formats

if TYPE_CHECKING:
    from vicinal.report.result import Perception

NO_FORMATS: Formats = {}


def explanation_table(result: Perception) -> Table:
    """What distinguishes each cluster, its rule, and its nearest cluster."""
    formats = value_formats(result.data)
    describe = partial(describe_features_with_effects, formats=formats)
    columns = [
        Column("cluster", "cluster", cluster_name, "cluster"),
        Column("features", "what distinguishes it", describe, "text"),
        Column("rule", "rule", describe=partial(_rule_of, formats=formats), kind="text"),
        Column("nearest", "nearest cluster", cluster_name, "text"),
        Column("separate", "what separates the two", describe, "text"),
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
    describe = partial(describe_reasons, formats=value_formats(result.data))
    columns = [
        Column("row", "row", kind="row"),
        Column("nearest", "nearest cluster", cluster_name, "text"),
        Column("reasons", "why it is noise", describe, "text"),
    ]
    caption = (
        "The rows with the highest noise scores, and the columns in which they are farthest from their "
        "nearest cluster, in robust standard deviations of this cluster."
    )
    return Table(columns, result.explanations.noise, caption)


def explanation_lines(result: Perception) -> list[str]:
    """The explanations as text: a few lines per cluster, a line per noise row."""
    lines, formats = [], value_formats(result.data)
    for record in result.explanations.clusters:
        features = describe_features_with_effects(record["features"], formats)
        lines += [
            f"{cluster_name(record['cluster'])}: {features}",
            f"  rule: {describe_rule(record['rule'], formats)}",
        ]
        if len(result.explanations.clusters) == 2:
            continue  # the nearest cluster is all others
        lines += [
            f"  nearest: {cluster_name(record['nearest'])}; what separates the two: "
            f"{describe_features_with_effects(record['separate'], formats)}",
        ]
    lines += [
        f"noise row {result.data.ids[record['row']]}: {describe_reasons(record['reasons'], formats)}, "
        f"compared with {cluster_name(record['nearest'])}"
        for record in result.explanations.noise[:3]
    ]
    return lines


def describe_features_with_effects(
    features: Sequence[Record], formats: Formats = NO_FORMATS
) -> str:
    """Columns and categories with their effect sizes."""
    return (
        "; ".join(_describe_feature(feature, formats) for feature in features)
        or "no column on its own"
    )


def _describe_feature(feature: Record, formats: Formats) -> str:
    interval = f"effect {feature['effect']:+.2f}, {feature['low']:+.2f} to {feature['high']:+.2f}"
    if "category" in feature:
        often = "is" if feature["effect"] > 0 else "is rarely"
        return (
            f"{feature['column']} {often} {feature['category']} ({feature['inside']:.0%}, others "
            f"{feature['outside']:.0%}; {interval})"
        )
    name = feature["column"]
    direction = "high" if feature["effect"] > 0 else "low"
    value_text = formats.get(name, readable)
    return (
        f"{name} {direction} (median {value_text(feature['inside'])}, others "
        f"{value_text(feature['outside'])}; {interval})"
    )


def describe_rule(rule: Record | None, formats: Formats = NO_FORMATS) -> str:
    """Conditions of a rule, and how well it holds."""
    if rule is None:
        return "too few rows for a rule"
    conditions = " and ".join(_describe_condition(c, formats) for c in rule["conditions"])
    precision = "no row fits it" if rule["precision"] is None else f"{rule['precision']:.0%}"
    return f"{conditions} (precision {precision}, recall {rule['recall']:.0%})"


def _rule_of(record: Record, formats: Formats) -> str:
    return describe_rule(record["rule"], formats)


def _describe_condition(condition: Record, formats: Formats) -> str:
    if "category" in condition:
        return (
            f"{condition['column']} is{'' if condition['is'] else ' not'} {condition['category']}"
        )
    value_text = formats.get(condition["column"], "{:.15g}".format)
    return f"{condition['column']} {'>' if condition['above'] else '<='} {value_text(condition['value'])}"


def describe_reasons(reasons: Sequence[Record], formats: Formats = NO_FORMATS) -> str:
    """Values that are far from those of a cluster."""
    return "; ".join(_describe_reason(reason, formats) for reason in reasons)


def _describe_reason(reason: Record, formats: Formats) -> str:
    value_text = formats.get(reason["column"], readable)
    return (
        f"{reason['column']} is {value_text(reason['value'])} instead of about "
        f"{value_text(reason['typical'])} ({reason['deviation']:+.1f} standard deviations)"
    )
