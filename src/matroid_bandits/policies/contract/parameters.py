"""The parameters of a policy: recorded when it is made, readable, enough to make it again."""

import copy
import inspect
from abc import ABCMeta
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import lru_cache
from inspect import BoundArguments, Parameter, Signature
from typing import TYPE_CHECKING, Any, Self, TypeVar

from matroid_bandits._arguments import unknown_argument
from matroid_bandits.policies.contract.specification import spec_of

__all__ = ["Parametrized", "PolicyType", "clone"]


class PolicyType(ABCMeta):
    """The type of policy classes. It finishes a policy after its ``__init__``.

    So an ``__init__`` need only store what it is given: the arguments are recorded and the kernel
    is made afterwards, when all of them are there.
    """

    if not TYPE_CHECKING:

        def __call__(cls, *args, **kwargs):  # noqa: ANN002, ANN003, ANN204
            parameters = cls.__signature__.parameters
            if not kwargs.keys() <= parameters.keys() and not any(
                parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()
            ):
                raise unknown_argument(cls.__name__, kwargs, cls)
            policy = super().__call__(*args, **kwargs)
            bound = cls.__signature__.bind(*args, **kwargs)
            bound.apply_defaults()
            policy._finish(bound.arguments)
            return policy

    @property
    def __signature__(cls) -> Signature:
        # Without it, `inspect.signature` would show the arguments of `__call__` above.
        return _signature_of(cls.__init__)  # type: ignore[misc]


@lru_cache(maxsize=256)
def _signature_of(init: Callable[..., None]) -> Signature:
    signature = inspect.signature(init)
    return signature.replace(
        parameters=list(signature.parameters.values())[1:], return_annotation=Signature.empty
    )


class Parametrized(metaclass=PolicyType):
    """A policy's access to its own parameters."""

    _arguments: dict[str, Any]

    def _finish(self, arguments: dict[str, Any]) -> None:
        """Record the arguments of the constructor."""
        self._arguments = {
            # An iterator is used up by now; the policy may have kept what it gave.
            name: vars(self).get(f"_{name}", value) if isinstance(value, Iterator) else value
            for name, value in arguments.items()
        }
        # Parameters can be read, also where the class keeps them under another name.
        for name, value in self._arguments.items():
            if not hasattr(type(self), name):
                vars(self).setdefault(name, value)

    def get_params(self) -> dict[str, Any]:
        """The arguments that the policy was made with, by name, defaults included.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.OMM(mb.UniformMatroid(1, 2), noise=0.2).get_params()
        {'matroid': UniformMatroid(rank=1, size=2), 'index': 'ucb', 'noise': 0.2, 'seed': 0,
        'pending': 'ignore', 'window': None, 'discount': None, 'restart': None}
        """
        found: dict[str, Any] = {}
        for name, parameter in type(self).__signature__.parameters.items():
            value = self._arguments[name]
            found |= value if parameter.kind is Parameter.VAR_KEYWORD else {name: value}
        return found

    def clone(self) -> Self:
        """A fresh policy of the same class with the same parameters, which has learned nothing.

        The parameters are copied: pass a seed rather than a random generator, which has a state.
        """
        return self._with_arguments({})

    def _with_arguments(self, changes: dict[str, Any]) -> Self:
        """A fresh policy with the same parameters but for `changes`."""
        arguments = OrderedDict(copy.deepcopy(self._arguments) | changes)
        bound = BoundArguments(type(self).__signature__, arguments)
        return type(self)(*bound.args, **bound.kwargs)

    def to_spec(self) -> dict[str, Any]:
        """The policy as plain data, as JSON has it: ``type``, ``problem`` and the parameters.

        The notation is that of study files. It describes the policy, not what it has learned.
        :func:`~matroid_bandits.policy_from_spec` makes a fresh policy of it. The type of a policy
        of your own is ``module:Class``.

        Raises
        ------
        ValueError
            If a parameter is neither an index nor plain: a text, a finite number, a truth value,
            None, a sequence of these, or a mapping from texts to them.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.RandomBasis(mb.UniformMatroid(1, 2), seed=7).to_spec()
        {'type': 'RandomBasis', 'problem': {'matroid': {'type': 'uniform', 'rank': 1, 'size': 2}},
         'seed': 7}
        """
        return spec_of(self, self.get_params())

    def _is_default(self, name: str) -> bool:
        """Whether there is a parameter `name`, and it has its default."""
        parameter = type(self).__signature__.parameters.get(name)
        return parameter is not None and _is_same(self._arguments[name], parameter.default)

    def _changed_parameters(self) -> list[tuple[str, Any]]:
        """The parameters after the matroid that do not have their defaults."""
        changed: list[tuple[str, Any]] = []
        for name, parameter in list(type(self).__signature__.parameters.items())[1:]:
            value = self._arguments[name]
            if parameter.kind is Parameter.VAR_KEYWORD:
                changed += value.items()
            elif not _is_same(value, parameter.default):
                changed.append((name, value))
        return changed

    def __repr__(self) -> str:
        if "_arguments" not in vars(self):
            return object.__repr__(self)
        shown: list[str] = []
        parameters = type(self).__signature__.parameters
        # Whatever comes before further positional arguments must be shown, and without a name.
        is_positional = any(
            parameter.kind is Parameter.VAR_POSITIONAL and self._arguments[name]
            for name, parameter in parameters.items()
        )
        for place, (name, parameter) in enumerate(parameters.items()):
            value = self._arguments[name]
            if parameter.kind is Parameter.VAR_POSITIONAL:
                shown += [repr(item) for item in value]
            elif parameter.kind is Parameter.VAR_KEYWORD:
                shown += [f"{key}={item!r}" for key, item in value.items()]
            elif place == 0 or (
                is_positional and parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
            ):
                shown.append(repr(value))
            elif not _is_same(value, parameter.default):
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


P = TypeVar("P", bound=Parametrized)


def clone(policy: P) -> P:
    """A fresh policy of the same class with the same parameters, which has learned nothing.

    Parameters
    ----------
    policy : Policy
        Any policy, of your own class too.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.MAUB(mb.UniformMatroid(1, 2), noise=0.5)
    >>> policy.update([0], [1.0])
    >>> mb.clone(policy).rounds, mb.clone(policy)
    (0, MAUB(UniformMatroid(rank=1, size=2), noise=0.5))
    """
    if not isinstance(policy, Parametrized):
        raise TypeError(f"clone needs a Policy, got {policy!r}; copy.deepcopy copies other objects")
    return policy.clone()


def _is_same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if type(value) is not type(default):
        return False
    try:
        return bool(value == default)
    except ValueError:  # of arrays
        return False
