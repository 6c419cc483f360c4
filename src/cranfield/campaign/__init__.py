"""Rules of asking people, without a server: questionnaires, their answers, and counts of votes."""
