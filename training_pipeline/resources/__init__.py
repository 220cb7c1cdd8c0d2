"""What the assets use: the ledger and the places where a worker can run."""
