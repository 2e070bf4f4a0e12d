"""The spanning tree with the lowest latency
=========================================

Learn the spanning tree of least latency of a backbone, by measuring the links in use.

Each round uses a spanning tree and measures the delays of its links, with jitter: on Abilene, or a
GraphML or GML file with coordinates. Needs pip install 'matroid-bandits[graphs,plots]'.
"""

import argparse

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import matroid_bandits as mb

CITIES = {  # in a ring, with longitude and latitude
    "New York": (-74.01, 40.71), "Chicago": (-87.65, 41.85), "Indianapolis": (-86.16, 39.77),
    "Kansas City": (-94.58, 39.10), "Denver": (-104.98, 39.74), "Seattle": (-122.33, 47.61),
    "Sunnyvale": (-122.04, 37.37), "Los Angeles": (-118.24, 34.05), "Houston": (-95.36, 29.76),
    "Atlanta": (-84.39, 33.75), "Washington": (-77.04, 38.90),
}  # fmt: skip
CHORDS = [("Indianapolis", "Atlanta"), ("Kansas City", "Houston"), ("Denver", "Sunnyvale")]


def read(path):
    """A graph, and where its nodes are; those of a file that are nowhere are left out."""
    if path is None:
        return nx.compose(nx.cycle_graph(CITIES), nx.Graph(CHORDS)), CITIES
    graph = nx.Graph(nx.read_graphml(path) if path.endswith(".graphml") else nx.read_gml(path))
    keys = ("lon", "lat") if nx.get_node_attributes(graph, "lon") else ("Longitude", "Latitude")
    places = {v: [d[k] for k in keys] for v, d in graph.nodes(data=True) if d.keys() >= {*keys}}
    return graph.subgraph(places), places


def delay(one, other):
    """Milliseconds along the great circle, at two thirds of the speed of light."""
    (x, y), (u, v) = np.radians([one, other])
    chord = np.sin((v - y) / 2) ** 2 + np.cos(y) * np.cos(v) * np.sin((u - x) / 2) ** 2
    return 2 * np.arcsin(np.sqrt(chord)) * 6371 / 200


def main(picture, path, horizon):
    graph, places = read(path)
    problem = mb.from_networkx(graph, sense="min")
    delays = {(u, v): delay(places[u], places[v]) for u, v in problem.labels}
    environment = mb.GaussianEnvironment(list(delays.values()), std=2.0)
    figure, axes = plt.subplots(2, 2, figsize=(12, 7), layout="constrained")
    for policy, look in (mb.OMM(problem, noise=2.0), "C1-"), (mb.MAUB(problem, noise=2.0), "C0--"):
        run = mb.simulate(policy, environment, horizon)
        print(f"{policy.name}: {run.total_regret:,.0f} ms of regret, {run.counters}")
        axes[1, 0].plot(run.rounds, run.regret, look, label=policy.name)
        axes[1, 1].loglog(run.rounds, run.counter_curves["oracle_calls"], look, label=policy.name)
    axes[1, 0].set(xlabel="round", title="cumulative regret in ms")
    axes[1, 1].set(xlabel="round", title="oracle calls")
    axes[1, 1].legend()
    best = problem.best_basis(delays)
    for axis, title, tree in (axes[0, 0], "found", policy.leader), (axes[0, 1], "best", best):
        colors = ["C0" if link in best else "C3" for link in tree]
        others = set(graph.edges) - set(tree)
        nx.draw_networkx_edges(graph, places, tree, width=3, edge_color=colors, ax=axis)
        nx.draw_networkx_edges(graph, places, others, style="--", edge_color="#999999", ax=axis)
        nx.draw_networkx_nodes(graph, places, node_size=25, node_color="black", ax=axis)
        axis.set_aspect(1 / np.cos(np.radians(np.mean([y for _, y in places.values()]))))
        axis.set_title(f"{title} tree: {sum(delays[link] for link in tree):.1f} ms")
        axis.axis("off")
    if len(graph) < 20:  # there is room for texts
        above = {v: (x, y + 1) for v, (x, y) in places.items()}
        box = {"fc": "white", "ec": "none", "alpha": 0.7, "pad": 0}
        nx.draw_networkx_labels(graph, above, font_size=10, bbox=box, ax=axes[0, 0])
        notes = {link: f"{ms:.1f}" for link, ms in delays.items()}
        nx.draw_networkx_edge_labels(graph, places, notes, rotate=False, ax=axes[0, 1])
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[2])
    parser.add_argument("picture", nargs="?", default="backbone_tree.png", help="where to draw")
    parser.add_argument("--path", help="a GraphML or GML file")
    parser.add_argument("--horizon", type=int, default=20_000, help="number of rounds")
    main(**vars(parser.parse_args()))
