"""How the sample collection of photographs was made from its tiles."""
