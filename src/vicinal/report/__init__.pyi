from vicinal.report.assignment import Assignment as Assignment
from vicinal.report.model import PerceptionModel as PerceptionModel
from vicinal.report.pipeline import perceive as perceive
from vicinal.report.result import Perception as Perception

__all__: list[str]
__all__ = [
    "Assignment",
    "Perception",
    "PerceptionModel",
    "perceive",
]
