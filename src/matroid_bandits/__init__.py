"""Matroid semi-bandits: learn the best allowed set of things to play.

>>> import matroid_bandits as mb
>>> matroid = mb.GraphicMatroid.complete(5)
>>> policy = mb.MAUB(matroid)
>>> environment = mb.GaussianEnvironment(means=[0.1 * e for e in range(10)], std=0.2)
>>> result = mb.simulate(policy, environment, horizon=10_000)
>>> policy.leader
array([3, 6, 8, 9])
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from matroid_bandits import (
    adapters,
    catalog,
    checks,
    delays,
    environments,
    evaluation,
    identification,
    indices,
    lower_bound,
    matroids,
    policies,
    problem,
    restarts,
    simulation,
    specs,
)
from matroid_bandits._version import __version__
from matroid_bandits.adapters import *
from matroid_bandits.checks import *
from matroid_bandits.delays import *
from matroid_bandits.environments import *
from matroid_bandits.errors import (
    DecisionError,
    MatroidAxiomError,
    NoBasisError,
    SnapshotError,
)
from matroid_bandits.evaluation import *
from matroid_bandits.identification import (
    Identification,
    IdentificationBound,
    identification_lower_bound,
    identify,
)
from matroid_bandits.indices import *
from matroid_bandits.lower_bound import *
from matroid_bandits.matroids import *
from matroid_bandits.policies import *
from matroid_bandits.problem import *
from matroid_bandits.restarts import *
from matroid_bandits.simulation import *
from matroid_bandits.specs import *

# Whatever a package below lists is here too: a new class is listed once.
__all__ = ["DecisionError", "MatroidAxiomError", "NoBasisError", "SnapshotError"]
__all__ += ["__version__", "catalog", "identification"]
__all__ += ["Identification", "IdentificationBound", "identification_lower_bound", "identify"]
__all__ += adapters.__all__
__all__ += checks.__all__
__all__ += delays.__all__
__all__ += environments.__all__
__all__ += evaluation.__all__
__all__ += indices.__all__
__all__ += lower_bound.__all__
__all__ += matroids.__all__
__all__ += policies.__all__
__all__ += problem.__all__
__all__ += restarts.__all__
__all__ += simulation.__all__
__all__ += specs.__all__

if TYPE_CHECKING:
    from matroid_bandits import datasets as datasets
    from matroid_bandits import experiments as experiments
    from matroid_bandits import service as service
    from matroid_bandits.client import Client as Client

# Imported when first used: they need more than the core does.
_LAZY = ("datasets", "experiments", "service")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return import_module(f"{__name__}.{name}")
    if name == "Client":
        return import_module(f"{__name__}.client").Client
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, "Client"})
