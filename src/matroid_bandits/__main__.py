"""``python -m matroid_bandits`` is ``matroid-bandits``."""

import sys

from matroid_bandits.cli import main

sys.exit(main())
