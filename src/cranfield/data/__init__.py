"""What flows through Cranfield: frozen judgements and runs."""
