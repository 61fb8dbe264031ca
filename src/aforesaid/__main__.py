"""`python -m aforesaid` is the command `aforesaid`."""

from __future__ import annotations

import sys

from aforesaid.cli import main

sys.exit(main())
