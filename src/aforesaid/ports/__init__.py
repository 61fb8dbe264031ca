"""Floor 2: what the inner floors need from the outside, as small protocols.

`indexing` and `retrieval` know only these. `storage/sqlite` and `transcripts/*` implement them, tests bring fakes, and
`tests/contract/` holds one test file a port that runs over every implementation. Nothing here knows SQL or a host.
Only the type checker imports it.
"""

from aforesaid.ports.models import ClassifierPort, EmbeddingPort
from aforesaid.ports.snapshots import BrowsePort, EntryPort, SearchPort, Snapshot
from aforesaid.ports.stores import ForgettingPort, ManifestPort, Reading, SessionWriter, StorePort, TranscriptPort
from aforesaid.ports.vectors import SimilarityPort, VectorPort

__all__ = [
    "BrowsePort",
    "ClassifierPort",
    "EmbeddingPort",
    "EntryPort",
    "ForgettingPort",
    "ManifestPort",
    "Reading",
    "SearchPort",
    "SessionWriter",
    "SimilarityPort",
    "Snapshot",
    "StorePort",
    "TranscriptPort",
    "VectorPort",
]
