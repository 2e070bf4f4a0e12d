"""Policies as plain data: class, problem and parameters."""

from typing import Any

from matroid_bandits._plain_data import class_text, plain
from matroid_bandits.indices import Index
from matroid_bandits.matroids import Matroid
from matroid_bandits.problem import Problem
from matroid_bandits.restarts import GLR

__all__ = ["spec_of"]


def spec_of(policy: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """The specification of a policy that was made with `parameters`.

    The matroid or problem that it was made for is the key ``problem``, whatever the class calls the
    parameter. A plain matroid is a problem without ``sense``.
    """
    cls = type(policy)
    spec: dict[str, Any] = {"type": cls.name if _is_ours(cls) else class_text(cls)}
    problem: Problem[Any, Any] = policy.problem
    for name, value in parameters.items():
        what = f"{name} of {cls.__name__}"
        if isinstance(value, Problem) and value is problem:
            spec["problem"] = problem.to_spec()
        elif isinstance(value, Matroid) and value is problem.matroid:
            spec["problem"] = {"matroid": value.to_spec()}
        elif isinstance(value, (Index, GLR)):
            spec[name] = value.to_spec()
        elif name in ("type", "problem"):
            raise ValueError(
                f"{what}: a parameter of this name cannot be written in a specification; give it "
                "another name"
            )
        else:
            spec[name] = plain(value, what)
    return spec


def _is_ours(cls: type) -> bool:
    """Whether a class is one of the package's, and found by its name."""
    from matroid_bandits import policies

    return cls.__name__ in policies.__all__ and getattr(policies, cls.__name__) is cls
