"""Asset checks: leakage (blocking) and support."""
