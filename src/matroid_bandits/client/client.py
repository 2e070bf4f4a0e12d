"""Every call of the HTTP service as a method."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from matroid_bandits._arguments import as_list, integer, real, truth_value
from matroid_bandits._plain_data import plain
from matroid_bandits.client import messages
from matroid_bandits.client.errors import ServiceError
from matroid_bandits.client.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Self, TypeVar

    import numpy.typing as npt

    from matroid_bandits.client.messages import Learned, ServedDecision
    from matroid_bandits.client.transport import Answer
    from matroid_bandits.matroids import Matroid
    from matroid_bandits.problem import Problem

    T = TypeVar("T")

__all__ = ["Client"]

# Of one request; longer batches are sent in several.
_LARGEST_BATCH = 1000


class Client:
    """A client of the HTTP service.

    Any number of threads may use one client. Each thread keeps a connection open; a process that
    was forked opens connections of its own.

    Parameters
    ----------
    url : str
        Where the service is: ``"https://bandits.example.org"``. It may have a path, which comes
        before all others. With https, the certificate is checked; the environment variable
        ``SSL_CERT_FILE`` names other authorities to trust.
    key : str, optional
        The key to send with every request. With http, everyone on the way can read it.
    timeout : float, default 10.0
        Seconds to wait for a connection, and for each part of an answer.
    retries : int, default 5
        How often a request is repeated if no answer comes, or one with the status 502, 503 or 504.
        The pauses in between grow from 0.1 to 5 seconds, less a random part. If the answer says
        when to come back (Retry-After), that long, but 30 seconds at most. With 0, nothing is
        repeated. A connection that the service closed while it was idle is opened again at once,
        whatever `retries` is.

    Raises
    ------
    ServiceError
        By every call, if the service refuses it; `Refused`, `NotFound`, `Conflict`, `Gone` and
        `Unavailable` are kinds of it. Refusals are never repeated.
    ValueError
        By every call, if an argument cannot be right. Nothing was sent then.

    Notes
    -----
    If no answer comes, the request may have been carried out or not. Calls can be repeated all the
    same:

    - What only reads changes nothing.
    - `decide` has an id before the first attempt, its own or a random one. A second request with
      this id gets the decision that the first one made.
    - `learn`: the same reward for the same element of a decision is learned once.
    - `expire`: a closed decision stays as it is.
    - `decide_many` and `learn_many` consist of such items, each with its id.
    - `create`: if the same bandit is there already, nothing is created.
    - `configure` says what settings shall be, not how they shall change.
    - `move` says what the problem shall be. A prior is for elements that are new, which they are
      once.

    In answers, arrays are tuples, so that labels are hashable.

    Examples
    --------
    >>> from matroid_bandits.client import Client
    >>> client = Client("https://bandits.example.org", key="a-secret")
    >>> client
    Client('https://bandits.example.org')
    >>> client.close()

    With a service that has a bandit called "news"::

        with Client("http://127.0.0.1:8000", key=key) as client:
            page = client.decide("news", client="visitor-17")
            ...  # show page.elements
            client.learn("news", page, {page.elements[0]: 1.0})
    """

    def __init__(
        self, url: str, *, key: str | None = None, timeout: float = 10.0, retries: int = 5
    ) -> None:
        self._transport = Transport(url, key, timeout, retries)
        self._call = self._transport.call

    def close(self) -> None:
        """Close the connections of all threads.

        A request under way is finished; later calls raise a RuntimeError.
        """
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # Never the key.
        return f"{type(self).__name__}({str(self._transport.address)!r})"

    # ---- decisions and feedback ----

    def decide(
        self,
        bandit: str,
        *,
        available: Iterable[Any] | None = None,
        allow_smaller: bool = False,
        id: str | None = None,  # noqa: A002
        client: str | None = None,
        shown: Iterable[Any] | None = None,
        propensities: int | None = None,
    ) -> ServedDecision:
        """Make a decision, which stays open until its feedback has come.

        Parameters
        ----------
        bandit : str
            The name of the bandit.
        available : iterable, optional
            The labels that are available, by default all.
        allow_smaller : bool, default False
            If the available elements contain no full basis, play a largest set that may be played,
            instead of raising an error.
        id : str, optional
            An id of your own, such as that of a request; by default a random one. If the service
            has a decision of this id, it is returned, whatever the other arguments are.
        client : str, optional
            Who it is for. Bandits with ``sticky_for`` show the same client the same set for a
            while: then the earlier decision is returned, with its id.
        shown : iterable, optional
            The labels that are shown in place of what the service decides.
        propensities : int, optional
            Estimate how likely each element was, by so many more draws of the policy, at most
            1,000. The service logs them.
        """
        request = messages.decision_request(
            available=available,
            allow_smaller=allow_smaller,
            id=id,
            client=client,
            shown=shown,
            propensities=propensities,
        )
        answer = self._call("POST", f"{_bandit(bandit)}/decisions", request)
        return messages.served(answer, request, is_new=answer.status == 201)

    def learn(
        self,
        bandit: str,
        decision: ServedDecision | str,
        rewards: Mapping[Any, float] | npt.ArrayLike,
        *,
        final: bool = False,
    ) -> Learned:
        """Learn rewards, or costs, of elements of a decision.

        Parameters
        ----------
        bandit : str
            The name of the bandit.
        decision : ServedDecision or str
            The decision, or its id.
        rewards : mapping, or array_like of float
            The reward of each element that was observed: ``{"tea": 1.0}``, or a Series of pandas.
            Without labels, those of all elements of a ServedDecision, in their order.
        final : bool, default False
            Whether nothing more will come for this decision: it is closed.
        """
        item = messages.feedback_item(decision, rewards, final)
        path = f"{_bandit(bandit)}/decisions/{_decision(item.pop('id'))}/rewards"
        return messages.learned(self._call("POST", path, item))

    def expire(
        self, bandit: str, decision: ServedDecision | str, reward: float | None = None
    ) -> bool:
        """Close a decision for which nothing more is expected.

        Parameters
        ----------
        bandit : str
            The name of the bandit.
        decision : ServedDecision or str
            The decision, or its id.
        reward : float, optional
            What is learned for elements without feedback, such as 0 for "no click". By default
            nothing is learned about them.

        Returns
        -------
        bool
            False if the decision was closed before: by another call, or by an earlier attempt of
            this one, whose answer was lost.
        """
        body = {} if reward is None else {"reward": messages.number(reward, "reward")}
        path = f"{_bandit(bandit)}/decisions/{_decision(decision)}/expire"
        return self._call("POST", path, body).get("expired", bool)

    def decision(self, bandit: str, id: ServedDecision | str) -> dict[str, Any]:  # noqa: A002
        """What the service knows about a decision: its set, status and rewards.

        Parameters
        ----------
        bandit : str
            The name of the bandit.
        id : str or ServedDecision
            The id of the decision.
        """
        return self._call("GET", f"{_bandit(bandit)}/decisions/{_decision(id)}").table

    # ---- batches ----

    def decide_many(
        self, bandit: str, requests: int | Iterable[Mapping[str, Any]]
    ) -> list[ServedDecision | ServiceError]:
        """Make many decisions, 1,000 with each request.

        Parameters
        ----------
        bandit : str
            The name of the bandit.
        requests : int, or list of dict
            How many, or the keyword arguments of `decide` for each.

        Returns
        -------
        list
            In the order of `requests`; in the place of one that was refused, its error.

        Raises
        ------
        ServiceError
            If the first thousand were refused as a whole. If that happens later, it is the result
            of all that are left, so that the decisions made before are not lost.
        """
        if hasattr(requests, "__iter__"):
            given = as_list(requests, "requests")
        else:
            given = [{}] * integer(requests, "requests", minimum=0)
        items = messages.decision_requests(given)
        return self._batch(
            f"{_bandit(bandit)}/decisions/batch",
            "decisions",
            items,
            lambda answer, item: messages.served(answer, item, is_new=None),
        )

    def learn_many(
        self, bandit: str, feedback: Iterable[tuple[Any, ...]]
    ) -> list[Learned | ServiceError]:
        """Learn feedback for many decisions, 1,000 with each request.

        Parameters
        ----------
        bandit : str
            The name of the bandit.
        feedback : list of tuple
            The arguments of `learn`: ``(decision, rewards)`` or ``(decision, rewards, final)``.

        Returns
        -------
        list
            In the order of `feedback`; in the place of what was refused, its error.

        Raises
        ------
        ServiceError
            If the first thousand were refused as a whole. If that happens later, it is the result
            of all that are left.
        """
        items = messages.feedback_items(as_list(feedback, "feedback"))
        return self._batch(
            f"{_bandit(bandit)}/rewards/batch",
            "rewards",
            items,
            lambda answer, _: messages.learned(answer),
        )

    def _batch(
        self,
        path: str,
        key: str,
        items: list[dict[str, Any]],
        result: Callable[[Answer, dict[str, Any]], T],
    ) -> list[T | ServiceError]:
        """The results of all items, sent in parts."""
        results: list[T | ServiceError] = []
        while len(results) < len(items):
            part = items[len(results) : len(results) + _LARGEST_BATCH]
            try:
                answers = self._call("POST", path, {key: part}).items("results", len(part))
                new = [
                    answer if isinstance(answer, ServiceError) else result(answer, item)
                    for answer, item in zip(answers, part, strict=True)
                ]
            except ServiceError as error:
                if not results:
                    raise
                return results + [error] * (len(items) - len(results))
            results.append(new[0])
            # The service has left out the last ones, if all would take too long together.
            results += takewhile(lambda one: not _is_left_out(one), new[1:])
        return results

    # ---- bandits ----

    def create(
        self,
        name: str,
        problem: Problem[Any, Any] | Matroid | Mapping[str, Any],
        policy: str,
        **settings: Any,
    ) -> dict[str, Any]:
        """Create a bandit; if the same one is there already, it is returned.

        Parameters
        ----------
        name : str
            What to call it.
        problem : Problem, Matroid or dict
            What may be played, or its `to_spec()`.
        policy : str
            The policy, with its parameters: ``"MAUB(index=kl)"``.
        **settings
            ``expire_after`` and ``sticky_for`` in seconds, ``missing_reward``,
            ``max_open_decisions``.
        """
        body = {
            "name": messages.name_of(name, "the name of a bandit"),
            "problem": messages.problem_of(problem),
            "policy": plain(policy, "policy"),
        }
        return self._call("POST", "/v1/bandits", body | plain(settings, "settings")).table

    def bandits(self) -> list[dict[str, Any]]:
        """All bandits, each with `name`, `status`, `policy`, `rounds`, `open_decisions`.

        One that the service cannot load has the status "unavailable", and says why in `fault`.
        """
        return list(self._call("GET", "/v1/bandits").get("bandits", tuple))

    def bandit(self, name: str, *, elements: bool = True) -> dict[str, Any]:
        """What the service knows about a bandit.

        Parameters
        ----------
        name : str
            The name of the bandit.
        elements : bool, default True
            Whether to list its elements with their statistics.
        """
        query = "" if truth_value(elements, "elements") else "?elements=false"
        return self._call("GET", f"{_bandit(name)}{query}").table

    def configure(self, name: str, **changes: Any) -> dict[str, Any]:
        """Change the status or the settings of a bandit.

        Parameters
        ----------
        name : str
            The name of the bandit.
        **changes
            ``status``: "active", "paused" or "archived"; settings as in `create`.
        """
        if not changes:
            raise ValueError("there is nothing to change; pass a setting, such as status='paused'")
        return self._call("PATCH", _bandit(name), plain(changes, "changes")).table

    def move(
        self,
        name: str,
        problem: Problem[Any, Any] | Matroid | Mapping[str, Any],
        *,
        prior: Mapping[Any, tuple[float, int]] | Iterable[Mapping[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Give a bandit another problem. What it knows about labels that stay is kept.

        Parameters
        ----------
        name : str
            The name of the bandit.
        problem : Problem or dict
            The new problem, with labels.
        prior : mapping, optional
            ``{label: (mean, count)}`` for new elements: as if they had been observed.
        """
        body = messages.problem_of(problem)
        if prior is not None:
            body["prior"] = messages.prior_of(prior)
        return self._call("PUT", f"{_bandit(name)}/problem", body).table

    def explain(self, name: str) -> dict[str, Any]:
        """Why a bandit plays what it plays.

        Parameters
        ----------
        name : str
            The name of the bandit.
        """
        return self._call("GET", f"{_bandit(name)}/explain").table

    def confidence(self, name: str, *, delta: float = 0.05) -> dict[str, Any]:
        """Whether the best basis of a bandit is settled, so that one may stop.

        Parameters
        ----------
        name : str
            The name of the bandit.
        delta : float, default 0.05
            The probability of a wrong answer.

        Returns
        -------
        dict
            ``settled``, ``text`` (the answer in sentences), ``statistic`` and ``threshold``, the
            hardest ``pair``, and more.
        """
        allowed = real(delta, "delta", minimum=0.0, maximum=1.0)
        return self._call(
            "GET", f"{_bandit(name)}/confidence?{urlencode({'delta': allowed})}"
        ).table

    def log(self, name: str, *, after: int = 0) -> Iterator[dict[str, Any]]:
        """The log of a bandit, entry by entry, while it is received.

        Parameters
        ----------
        name : str
            The name of the bandit.
        after : int, default 0
            The number of the last entry to leave out.

        Raises
        ------
        Unavailable
            While the log is read, if it breaks off: what came so far is not all. Ask for the rest
            with `after`.
        """
        query = urlencode({"format": "jsonl", "after": integer(after, "after", minimum=0)})
        return self._transport.rows(f"{_bandit(name)}/log?{query}")

    # ---- the service ----

    def is_ready(self) -> bool:
        """Whether the service is there and ready for requests. It is asked once."""
        return self._transport.is_answered("/readyz")


def _bandit(name: str) -> str:
    return f"/v1/bandits/{messages.segment(name, 'the name of a bandit')}"


def _is_left_out(result: Any) -> bool:
    """Whether an item is for another batch, as this one would have taken too long."""
    return isinstance(result, ServiceError) and result.code == "too_large"


def _decision(decision: ServedDecision | str) -> str:
    return messages.segment(messages.identifier(decision), "the id of a decision")
