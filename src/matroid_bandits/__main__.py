"""``python -m matroid_bandits`` is ``matroid-bandits``."""

import sys

# ``python -m`` puts the current folder before installed packages: a file there, such as
# ``matplotlib.py`` beside a study, would be imported instead of the package.
if not sys.flags.safe_path:
    del sys.path[0]

from matroid_bandits.cli import main

sys.exit(main())
