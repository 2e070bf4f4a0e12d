"""What a policy would have earned, from the log of another one (docs/howto/evaluation.md)."""

from matroid_bandits.evaluation.estimating import Evaluation, evaluate_log

__all__ = ["Evaluation", "evaluate_log"]
