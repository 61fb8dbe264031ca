"""aforesaid brings back what was said before a coding agent's conversation was compacted."""

__version__ = "0.1.0"
