"""The environment of Gymnasium: its own checker, and the regret of `simulate`."""

import sys
import warnings

import numpy as np
import pytest

import matroid_bandits as mb

gymnasium = pytest.importorskip("gymnasium")

MATROIDS = {
    "graph": mb.GraphicMatroid.complete(4),
    "uniform": mb.UniformMatroid(2, 5),
    "partition": mb.PartitionMatroid([0, 0, 1, 1, 1], capacities=1),
    "loop": mb.GraphicMatroid([(0, 0), (0, 1), (1, 2), (2, 0)]),
}


def means_for(matroid):
    return np.linspace(0.2, 0.8, matroid.size)


def labeled(matroid, sense="max"):
    return mb.Problem(matroid, labels=[("edge", e) for e in range(matroid.size)], sense=sense)


@pytest.mark.parametrize("matroid", MATROIDS.values(), ids=MATROIDS)
@pytest.mark.parametrize("kind", [mb.BernoulliEnvironment, mb.GaussianEnvironment])
def test_the_checker_of_gymnasium(matroid, kind):
    env_checker = pytest.importorskip("gymnasium.utils.env_checker")
    env = mb.adapters.to_gymnasium(labeled(matroid), kind(means_for(matroid)), 20)
    with warnings.catch_warnings():
        if kind is mb.GaussianEnvironment:
            # It would rather have bounds, which normal rewards do not have.
            warnings.filterwarnings("ignore", message=".*infinity")
        env_checker.check_env(env, skip_render_check=True)


def play(policy, env, **options):
    """The regret of a policy in one episode, added up as `simulate` does, and the last info."""
    env.reset(**options)
    regret, truncated, info = 0.0, False, {}
    while not truncated:
        selected = policy.select()
        _, _, terminated, truncated, info = env.step(env.unwrapped.to_action(selected))
        assert not terminated
        policy.update(info["rewards"])
        regret += info["regret"]
    return regret, info


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("matroid", MATROIDS.values(), ids=MATROIDS)
@pytest.mark.parametrize(
    "policy", [mb.CUCB, lambda p: mb.MAUB(p, noise=0.2), lambda p: mb.CTS(p, seed=5)]
)
def test_a_policy_has_the_regret_of_simulate(matroid, policy, sense):
    problem = labeled(matroid, sense)
    environment = mb.BernoulliEnvironment(means_for(matroid))
    env = mb.to_gymnasium(problem, environment, 300)
    expected = mb.simulate(policy(problem), environment, 300, seed=7).total_regret
    regret, info = play(policy(problem), env, seed=7)
    assert regret == expected
    assert (info["round"], info["seed"]) == (300, 7)


def test_observations_and_rewards():
    environment = mb.GaussianEnvironment([0.5, 0.9, 0.7], std=0.1)
    env = mb.to_gymnasium(mb.Problem(mb.UniformMatroid(2, 3), sense="min"), environment, 3)
    observation, info = env.reset(seed=4)
    assert info == {"seed": 4, "round": 0}
    assert all(not values.any() for values in observation.values())
    drawn = environment.rewards(seed=4)
    first, second = drawn.draw([0, 2]), drawn.draw([1, 2])
    observation, reward, _, truncated, info = env.step([1, 0, 1])
    assert observation["rewards"].tolist() == [first[0], 0, first[1]]
    assert observation["played"].tolist() == [1, 0, 1]
    assert reward == -first[0] - first[1]
    assert info["rewards"] == {0: first[0], 2: first[1]}
    assert not truncated
    observation, *_ = env.step(env.unwrapped.to_action([1, 2]))
    assert observation["counts"].tolist() == [1, 1, 2]
    assert observation["means"] == pytest.approx([first[0], second[0], (first[1] + second[1]) / 2])
    assert env.step([1, 1, 0])[3]
    with pytest.raises(RuntimeError, match="call reset"):
        env.step([1, 1, 0])


def test_seeds():
    environment = mb.BernoulliEnvironment([0.5] * 4)
    problem = mb.UniformMatroid(2, 4)
    env = mb.to_gymnasium(problem, environment, 5, seed=9)
    assert env.reset()[1]["seed"] == 9
    drawn = [env.reset()[1]["seed"] for _ in range(3)]
    assert len(set(drawn)) == 3
    assert env.reset(seed=9)[1]["seed"] == 9
    # After a seed, the seeds drawn are the same again.
    assert [env.reset()[1]["seed"] for _ in range(3)] == drawn
    assert mb.to_gymnasium(problem, environment, 5, seed=9).reset(seed=2)[1]["seed"] == 2


def test_the_actions_are_the_bases():
    matroid = MATROIDS["graph"]
    env = mb.to_gymnasium(matroid, mb.BernoulliEnvironment(means_for(matroid)), 5)
    space = env.action_space
    space.seed(1)
    sampled = {tuple(np.flatnonzero(space.sample()).tolist()) for _ in range(500)}
    assert sampled == {tuple(map(int, basis)) for basis in matroid.bases()}
    assert space.contains(env.unwrapped.to_action([0, 1, 2]))
    assert not space.contains(np.ones(6, dtype=np.int8))
    assert not space.contains("abc")
    best = env.unwrapped.best_action([5, 4, 3, 2, 1, 0])
    assert (
        env.unwrapped.to_basis(best).tolist()
        == matroid.max_weight_basis([5, 4, 3, 2, 1, 0]).tolist()
    )
    assert space == mb.to_gymnasium(matroid, env.environment, 9).action_space
    assert space != gymnasium.spaces.MultiBinary(6)
    with pytest.raises(ValueError, match="without mask="):
        space.sample(mask=np.ones(6))


@pytest.mark.parametrize(
    "action, message",
    [
        ([1, 1, 1, 0, 0], r"\[0, 1, 2\] is not a basis of UniformMatroid"),
        ([1, 0, 0, 0, 0], "is not a basis"),
        ([1, 1], "a mask of 5 zeros and ones"),
        ([2, 0, 0, 0, 0], "a mask of 5 zeros and ones"),
        ("ab", "a mask of 5 zeros and ones"),
    ],
)
def test_actions_that_are_refused(action, message):
    env = mb.to_gymnasium(MATROIDS["uniform"], mb.BernoulliEnvironment([0.5] * 5), 5)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.step(action)
    # Nothing was drawn.
    fresh = mb.to_gymnasium(MATROIDS["uniform"], mb.BernoulliEnvironment([0.5] * 5), 5)
    fresh.reset(seed=0)
    assert env.step([1, 1, 0, 0, 0])[4] == fresh.step([1, 1, 0, 0, 0])[4]


def test_means_that_change():
    switching = mb.PiecewiseEnvironment([[0.75, 0.25], [0.25, 0.75]], [3], std=0.0)
    env = mb.to_gymnasium(mb.UniformMatroid(1, 2), switching, 4)
    for _ in range(2):
        env.reset()
        steps = [env.step([1, 0]) for _ in range(4)]
        assert [step[1] for step in steps] == [0.75, 0.75, 0.25, 0.25]
        assert [step[4]["regret"] for step in steps] == [0, 0, 0.5, 0.5]


def test_means_are_asked_for_once_a_round_and_a_failed_step_is_no_round():
    asked = []

    def means(number, elements):
        asked.append(number)
        if asked.count(2) == 1 and number == 2:
            raise RuntimeError("not now")
        return np.full(len(elements), 0.5) + 0.1 * (elements == number % 2)

    env = mb.to_gymnasium(mb.UniformMatroid(1, 2), mb.FunctionEnvironment(means, 2, std=0.0), 3)
    env.reset()
    first = env.step([1, 0])[4]
    with pytest.raises(RuntimeError, match="not now"):
        env.step([1, 0])
    others = [env.step([1, 0])[4] for _ in range(2)]
    assert [info["round"] for info in (first, *others)] == [1, 2, 3]
    assert [info["regret"] for info in (first, *others)] == pytest.approx([0.1, 0.0, 0.1])
    assert asked == [1, 2, 2, 3]


def test_vectors_of_environments():
    def made():
        return mb.to_gymnasium(MATROIDS["graph"], mb.BernoulliEnvironment([0.5] * 6), 4)

    vector = gymnasium.vector.SyncVectorEnv([made, made])
    vector.reset(seed=3)
    actions = np.stack([made().unwrapped.to_action([0, 1, 2])] * 2)
    observation, rewards, *_ = vector.step(actions)
    assert observation["counts"].shape == (2, 6)
    assert rewards.shape == (2,)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((3, mb.BernoulliEnvironment([0.5]), 5), "to_gymnasium needs a matroid"),
        ((mb.UniformMatroid(1, 1), 7, 5), "environment must be an Environment"),
        ((mb.UniformMatroid(1, 2), mb.BernoulliEnvironment([0.5]), 5), "1 elements, the matroid 2"),
        ((mb.UniformMatroid(1, 1), mb.BernoulliEnvironment([0.5]), 0), "horizon"),
        ((mb.UniformMatroid(0, 0), mb.BernoulliEnvironment([]), 5), "nothing to play"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        mb.to_gymnasium(*arguments)


def test_without_gymnasium(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ImportError, match=r"pip install 'matroid-bandits\[gymnasium\]'"):
        mb.to_gymnasium(mb.UniformMatroid(1, 1), mb.BernoulliEnvironment([0.5]), 5)
