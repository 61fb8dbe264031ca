"""Floor 8: Pi. `extension/` is its TypeScript end, which talks to `aforesaid serve`; `installation` registers it.

Pi loads every file of its folder for extensions. Ours is one small file there that knows the interpreter and where the
extension stands in this package, so that an upgrade of the package upgrades the extension, and no settings of Pi's are
touched. `docs/hosts/pi.md` describes it.
"""

from __future__ import annotations
