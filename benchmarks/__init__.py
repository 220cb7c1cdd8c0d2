"""How fast the product is and how much memory it takes: against the peer, by size, and against a bare script."""
