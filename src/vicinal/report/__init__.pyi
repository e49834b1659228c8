from vicinal.report.pipeline import perceive as perceive
from vicinal.report.result import Perception as Perception

__all__: list[str]
__all__ = [
    "Perception",
    "perceive",
]
