"""WordNet: finding the database files, reading them, and a cache that makes them instant."""

from cranfield.relatedness.wordnet.database import Sense, WordNet, open_wordnet

__all__ = ["Sense", "WordNet", "open_wordnet"]
