"""What runs on the training machine: a spec in, events and artifacts out.

Travels to training machines: imports `bundle` and `trainers`, and otherwise the standard library only.
"""
