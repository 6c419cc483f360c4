"""The schemas that stores had, one after the other."""
