"""A team for every task
=====================

Staff a help desk: one technician for every queue, learning day by day who is good.

A team is allowed if each of its members can be given a queue of their own, for which they are
trained: a transversal matroid. A day ends well or not. Needs pip install 'matroid-bandits[plots]'.
"""

import argparse

import matplotlib.pyplot as plt

import matroid_bandits as mb

STAFF = {  # what they are trained for, and their share of good days, unknown to the policy
    "Ada": (["network", "security"], 0.92), "Ben": (["network"], 0.85),
    "Chloe": (["network", "phones"], 0.60), "Dan": (["printers"], 0.45),
    "Elif": (["printers", "email"], 0.81), "Finn": (["email"], 0.88),
    "Grace": (["email", "accounts"], 0.90), "Hugo": (["accounts"], 0.70),
    "Ines": (["accounts", "phones"], 0.55), "Jun": (["phones"], 0.62),
    "Kofi": (["security"], 0.78), "Lea": (["security", "printers"], 0.50),
}  # fmt: skip


def assigned(team):
    """Who gets which queue, by augmenting paths."""
    queues = {}

    def place(name, seen):
        for queue in STAFF[name][0]:
            if queue not in seen:
                seen.add(queue)
                if queue not in queues or place(queues[queue], seen):
                    queues[queue] = name
                    return True
        return False

    for name in team:
        place(name, set())
    return queues


def main(picture, horizon):
    matroid = mb.TransversalMatroid([queues for queues, _ in STAFF.values()])
    problem = mb.Problem(matroid, labels=list(STAFF))
    environment = mb.BernoulliEnvironment([share for _, share in STAFF.values()])
    figure, (axes, regret, calls) = plt.subplots(1, 3, figsize=(14, 5), layout="constrained")
    for policy, look in (
        (mb.OMM(problem, index="kl"), "C1-"),
        (mb.MAUB(problem, index="kl"), "C0--"),
    ):
        run = mb.simulate(policy, environment, horizon)
        print(f"{policy.name}: {run.total_regret:,.0f} good days missed, {run.counters}")
        regret.plot(run.rounds, run.regret, look, label=policy.name)
        calls.loglog(run.rounds, run.counter_curves["oracle_calls"], look, label=policy.name)
    regret.set(xlabel="day", title="good days missed, in all")
    calls.set(xlabel="day", title="oracle calls")
    calls.legend()

    team = assigned(policy.leader)
    queues = dict.fromkeys(queue for trained, _ in STAFF.values() for queue in trained)
    height = {queue: 0.5 + 2 * k for k, queue in enumerate(queues)}
    for y, (name, days, share) in enumerate(zip(STAFF, policy.counts, policy.means, strict=True)):
        weight = "bold" if name in team.values() else "normal"
        text = f"{name}: {share:.0%} of {days:,} days"
        axes.text(-0.05, y, text, ha="right", va="center", weight=weight)
        for queue in STAFF[name][0]:
            look = {"color": "C0", "lw": 4} if team[queue] == name else {"color": "0.7", "lw": 1}
            axes.plot([0, 1], [y, height[queue]], **look)
    for queue, y in height.items():
        axes.text(1.05, y, queue, va="center")
    axes.set_title("MAUB's team, and what it learned")
    axes.axis("off")
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[2])
    parser.add_argument("picture", nargs="?", default="task_assignment.png", help="where to draw")
    parser.add_argument("--horizon", type=int, default=10_000, help="number of days")
    main(**vars(parser.parse_args()))
