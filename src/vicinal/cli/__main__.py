"""``python -m vicinal.cli``, for when the script is not on the path."""

import sys

from vicinal.cli import main

sys.exit(main())
