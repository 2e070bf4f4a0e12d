"""What a worker process does; it imports no more than that takes."""

import os
import pickle
import signal
import threading
import time

from matroid_bandits.experiments.store import Store
from matroid_bandits.experiments.study import Study, Task
from matroid_bandits.experiments.user_code import import_from
from matroid_bandits.simulation import simulate

__all__ = ["Worker", "begin_work", "work"]


class Worker:
    """Runs tasks of one study and stores their results."""

    def __init__(self, study: Study, store: Store, session: int) -> None:
        self._instances = {instance.name: instance for instance in study.instances}
        self._policies = {policy.name: policy for policy in study.policies}
        self.code_folders = study.code_folders
        self._store = store
        self._session = session
        # The same for all policies; of an instance with means of its own, for all seeds.
        self._bounds: dict[tuple[str, int | None], float] = {}

    def run(self, task: Task) -> None:
        """Run one task; when this returns, its result is on disk."""
        instance = self._instances[task.instance]
        problem = instance.problem
        policy = self._policies[task.policy].new_policy(problem, task.seed)
        has_problem = hasattr(policy, "problem") or hasattr(policy, "matroid")
        result = simulate(
            policy,
            instance.environment_for(task.seed),
            instance.horizon,
            seed=task.seed,
            delay=instance.delay,
            matroid=None if has_problem else problem,
        )
        place = (task.instance, task.seed if isinstance(instance.means, tuple) else None)
        if place not in self._bounds:
            self._bounds[place] = instance.lower_bound(task.seed)
        self._store.write_part(task, result, self._bounds[place], self._session)


# ---- for processes that do nothing else ----

_packed: bytes
_worker: Worker | None = None


def begin_work(packed: bytes, parent: int, code_folders: tuple[str, ...]) -> None:
    """Prepare this process for the tasks of a pickled worker."""
    global _packed  # noqa: PLW0603  # a process works for one study
    _packed = packed
    import_from(code_folders)
    # Ctrl-C reaches the whole group of processes; the first one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def work(task: Task) -> None:
    """Run one task in a prepared process."""
    global _worker  # noqa: PLW0603
    if _worker is None:
        # Here, not in the beginning: a class that cannot be imported is the task's failure.
        _worker = pickle.loads(_packed)  # noqa: S301  # from the process that started this one
    _worker.run(task)


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone, were it by ``kill -9``."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
