from vicinal.report._audit.pipeline import audit as audit
from vicinal.report._explorer import Explorer as Explorer
from vicinal.report._explorer import explore as explore
from vicinal.report.assignment import Assignment as Assignment
from vicinal.report.audit_result import Audit as Audit
from vicinal.report.model import PerceptionModel as PerceptionModel
from vicinal.report.pipeline import perceive as perceive
from vicinal.report.result import Perception as Perception
