"""``python -m vicinal.cli``, the same as ``python -m vicinal``."""

import sys

from vicinal.__main__ import main

sys.exit(main())
