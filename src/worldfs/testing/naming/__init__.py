"""Scenes and sentences with known truth, and their judge: what the names in a sentence mean, tried by the thousand."""

from .generator import KINDS, QUESTIONS, Case, case
from .naming_judge import Judged, Tried, Verdict, attempt, judge
from .naming_run import Tally, tally

__all__ = ["KINDS", "QUESTIONS", "Case", "Judged", "Tally", "Tried", "Verdict", "attempt", "case", "judge", "tally"]
