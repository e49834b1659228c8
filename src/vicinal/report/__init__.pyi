from vicinal.report._audit.pipeline import audit as audit
from vicinal.report._explorer import Explorer as Explorer
from vicinal.report._explorer import explore as explore
from vicinal.report._widget import widget as widget
from vicinal.report.assignment import Assignment as Assignment
from vicinal.report.audit_result import Audit as Audit
from vicinal.report.model import PerceptionModel as PerceptionModel
from vicinal.report.pipeline import perceive as perceive
from vicinal.report.result import Perception as Perception

__all__: list[str]
__all__ = [
    "Assignment",
    "Audit",
    "Explorer",
    "Perception",
    "PerceptionModel",
    "audit",
    "explore",
    "perceive",
    "widget",
]
