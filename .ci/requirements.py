"""Print requirements of pyproject.toml, one a line, for pip.

``build`` prints what building the package needs; the name of an extra prints what installing the
package with this extra needs, besides the package itself.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

SETTINGS = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
# An extra may name others: "matroid-bandits[plots,service]".
OWN = re.compile(rf"{PROJECT['name']}\[(.+)\]")


def of_extra(extra: str) -> Iterator[str]:
    """The requirements of an extra and of the extras it names."""
    for requirement in PROJECT["optional-dependencies"][extra]:
        own = OWN.fullmatch(requirement)
        if own is None:
            yield requirement
        else:
            for name in own[1].split(","):
                yield from of_extra(name.strip())


def requirements(name: str) -> list[str]:
    """The requirements of building, or of the package with an extra."""
    if name == "build":
        return list(SETTINGS["build-system"]["requires"])
    return [*PROJECT["dependencies"], *dict.fromkeys(of_extra(name))]


print("\n".join(requirements(sys.argv[1])))
