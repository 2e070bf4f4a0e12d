"""What a worker does, in this process or another one; it imports no more than that takes."""

import hashlib
import os
import pickle
import platform
import signal
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from matroid_bandits._version import __version__
from matroid_bandits.experiments.reading.user_code import import_from
from matroid_bandits.experiments.running.identifying import identified_line
from matroid_bandits.experiments.storing.parts import part_line
from matroid_bandits.experiments.study import (
    Instance,
    ModuleText,
    PolicySpec,
    Study,
    StudyError,
    Task,
)
from matroid_bandits.simulation import Simulation, simulate

__all__ = [
    "Answer",
    "ChunkAnswer",
    "PackedWorker",
    "UnfitWorkerError",
    "Worker",
    "begin_process",
    "failed_answer",
    "run_chunk",
    "simulated",
    "working_here",
]


class UnfitWorkerError(StudyError):
    """A worker that cannot work for this study, whatever the task."""


class Answer(NamedTuple):
    """What became of a task.

    Attributes
    ----------
    line : bytes
        The finished run as a line of a part; empty if it has failed.
    seconds : float
        How long it took, preparations included.
    error, trace : str
        The exception of a failed run, in a line and as a whole.
    """

    line: bytes
    seconds: float
    error: str = ""
    trace: str = ""


class ChunkAnswer(NamedTuple):
    """What became of a chunk of tasks, and who says so."""

    worker: str
    answers: list[Answer]


def simulated(instance: Instance, policy: PolicySpec, seed: int) -> Simulation:
    """Run number `seed` of a policy on an instance."""
    problem = instance.problem
    made = policy.new_policy(problem, seed, instance.features)
    has_problem = hasattr(made, "problem") or hasattr(made, "matroid")
    return simulate(
        made,
        instance.environment_for(seed),
        instance.horizon,
        seed=seed,
        checkpoints=instance.checkpoints(),
        delay=instance.delay,
        matroid=None if has_problem else problem,
    )


class Worker:
    """Runs tasks of one study."""

    def __init__(self, study: Study) -> None:
        self._instances = {instance.name: instance for instance in study.instances}
        self._policies = {policy.name: policy for policy in study.policies}
        # The same for all policies; of an instance with means of its own, for all seeds. Of rules,
        # the same for all that observe as much in a round.
        self._bounds: dict[tuple[str, int | None, str], float] = {}

    def run(self, task: Task) -> bytes:
        """Run one task; return the line of a part."""
        instance, policy = self._instances[task.instance], self._policies[task.policy]
        if instance.stopping is not None:

            def rounds_bound(model: Literal["basis", "element"]) -> float:
                compute = partial(instance.rounds_lower_bound, task.seed, model)
                return self._bound(instance, task.seed, model, compute)

            return identified_line(instance, policy, task, rounds_bound)
        result = simulated(instance, policy, task.seed)
        compute = partial(instance.lower_bound, task.seed)
        bound = self._bound(instance, task.seed, "basis", compute)
        _refuse_unfit(result, bound)
        return part_line(task, result, bound)

    def _bound(
        self, instance: Instance, seed: int, model: str, compute: Callable[[], float]
    ) -> float:
        """A lower bound, computed once."""
        place = (instance.name, seed if isinstance(instance.means, tuple) else None, model)
        bound = self._bounds.get(place)
        if bound is None:
            bound = compute()
            # Tasks come by seed: earlier seeds are not needed again.
            self._bounds = {k: v for k, v in self._bounds.items() if k[1] in {None, seed}}
            self._bounds[place] = bound
        return bound

    def answer(self, task: Task) -> Answer:
        """Run one task; an exception is part of the answer."""
        start = time.perf_counter()
        try:
            line = self.run(task)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # SystemExit as well: it stops no others
            return failed_answer(error, time.perf_counter() - start)
        return Answer(line, time.perf_counter() - start)


def _refuse_unfit(result: Simulation, bound: float) -> None:
    """Refuse numbers that the tables of a study cannot have; they come from a class of the user."""
    if not np.isfinite(result.regret).all():
        raise ValueError(f"the regret must be finite, got {result.total_regret}")
    for name, curve in result.counter_curves.items():
        if curve.min(initial=0) < 0:
            raise ValueError(f"{name} must not be negative, got {curve.min()}")
    if bound < 0:
        raise ValueError(f"the lower bound must not be negative, got {bound}")


def failed_answer(error: BaseException, seconds: float = 0.0) -> Answer:
    """The answer of a task that has failed."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001  # an exception of the user, with a mistake of its own
        message = "it cannot be shown"
    text = " ".join(f"{type(error).__name__}: {message}".split())
    trace = "".join(traceback.format_exception(error))
    return Answer(b"", seconds, text, trace)


# ---- in any process ----


class PackedWorker(NamedTuple):
    """A worker as it is sent to other processes.

    Attributes
    ----------
    version : str
        Of the package; other versions may compute other numbers.
    content : bytes
        The pickled `Worker`.
    checksum : bytes
        Of all that is sent: a module may change while the content stays the same.
    code_folders : tuple of str
        Folders of the user's code, from which it may import where they exist.
    code_texts : dict of str to ModuleText
        Modules of the user, which other machines do not have.
    """

    version: str
    content: bytes
    checksum: bytes
    code_folders: tuple[str, ...]
    code_texts: Mapping[str, ModuleText]

    @classmethod
    def of(
        cls, content: bytes, code_folders: tuple[str, ...], code_texts: Mapping[str, ModuleText]
    ) -> "PackedWorker":
        """A packed worker with its checksum."""
        everything = repr((code_folders, sorted(code_texts.items()))).encode()
        checksum = hashlib.sha256(everything + content).digest()
        return cls(__version__, content, checksum, code_folders, code_texts)


# Workers by checksum: those that were packed in this process, and those that were sent to it.
_own: dict[bytes, Worker] = {}
_workers: dict[bytes, Worker] = {}
_lock = threading.Lock()

# A process that works for one study after another keeps this many.
_MOST_WORKERS = 4


@contextmanager
def working_here(packed: PackedWorker, worker: Worker) -> Iterator[None]:
    """Let threads of this process, and processes forked from it, use the worker itself."""
    _own[packed.checksum] = worker
    try:
        yield
    finally:
        _own.pop(packed.checksum, None)


class _Turns:
    """Lets chunks of different studies wait for each other in a process with several threads.

    A module of the user is known by its name in the whole process, and another study may have
    another one of this name. Studies without such modules do not wait for each other.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        # In the order in which they came, so that none waits forever.
        self._waiting: deque[object] = deque()
        # Chunks under way, by the checksum of their worker and whether it has code of the user.
        self._active: Counter[tuple[bytes, bool]] = Counter()

    @contextmanager
    def turn(self, packed: PackedWorker) -> Iterator[None]:
        """Wait until a chunk may be run, and run it."""
        study = packed.checksum, bool(packed.code_folders or packed.code_texts)
        place = object()
        with self._changed:
            self._waiting.append(place)
            try:
                self._changed.wait_for(lambda: self._waiting[0] is place and self._fits(study))
                self._active[study] += 1
            finally:
                self._waiting.remove(place)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._active[study] -= 1
                self._changed.notify_all()

    def _fits(self, study: tuple[bytes, bool]) -> bool:
        others = (other for other, count in self._active.items() if count and other != study)
        return not any(study[1] or has_code for _, has_code in others)


_turns = _Turns()


def run_chunk(packed: PackedWorker, tasks: Sequence[Task], number: int = 0) -> ChunkAnswer:
    """Run tasks one after another in any process.

    `number` differs from call to call: Dask takes two calls with the same arguments for one.
    """
    del number
    name = _name()
    if packed.version != __version__:
        raise UnfitWorkerError(
            f"worker {name} has matroid-bandits {__version__}, and the study was started with "
            f"{packed.version}: install the same version on all machines"
        )
    with _turns.turn(packed):
        try:
            worker = _worker(packed)
        except Exception as error:  # noqa: BLE001  # a class that cannot be imported, say
            return ChunkAnswer(name, [failed_answer(error)] * len(tasks))
        return ChunkAnswer(name, [worker.answer(Task(*task)) for task in tasks])


def _worker(packed: PackedWorker) -> Worker:
    with _lock:
        found = _own.get(packed.checksum)
        if found is not None:
            return found
        # Also for a worker that is there: it may import while it runs, and the last chunk may have
        # been another study's.
        import_from(packed.code_folders, packed.code_texts)
        found = _workers.get(packed.checksum)
        if found is None:
            found = pickle.loads(packed.content)  # noqa: S301  # from the process that began this
            while len(_workers) >= _MOST_WORKERS:
                del _workers[next(iter(_workers))]
            _workers[packed.checksum] = found
    return found


def _name() -> str:
    """The name of this worker: host, process and, if it is not the main one, thread."""
    name = f"{platform.node()}:{os.getpid()}"
    thread = threading.current_thread()
    return name if thread is threading.main_thread() else f"{name}:{thread.native_id}"


# ---- in processes that this one has started ----


def begin_process(parent: int) -> None:
    """Prepare a process that works for the process `parent` only."""
    # Ctrl-C reaches the whole group of processes, and so may a request of Slurm to end; the first
    # process decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone, were it by ``kill -9``."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
