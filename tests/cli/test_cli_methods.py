"""The tables of methods agree with the library."""

import inspect

import pytest

import vicinal
from vicinal.cli import build_parser, cluster, embed, rank

METHODS = [
    pytest.param(command, name, method, id=f"{command}-{name}")
    for command, module in (("cluster", cluster), ("embed", embed), ("rank", rank))
    for name, method in module.METHODS.items()
]


@pytest.mark.parametrize(("command", "name", "method"), METHODS)
def test_options_are_parameters_of_the_estimator(command, name, method):
    parameters = inspect.signature(getattr(vicinal, method.estimator)).parameters
    assert {*method.options.values(), *method.fixed} <= set(parameters)
    assert method.on_graph == ("graph" in parameters)


@pytest.mark.parametrize(("command", "name", "method"), METHODS)
def test_options_can_be_given_and_are_absent_otherwise(command, name, method):
    args = [
        command,
        "data.csv",
        "--method",
        name,
        *(["--query", "0"] if command == "rank" else []),
    ]
    parser = build_parser()
    assert not set(method.options) & set(vars(parser.parse_args(args)))
    given = [word for option in method.options for word in (f"--{option}", "1")]
    assert set(method.options) <= set(vars(parser.parse_args([*args, *given])))
