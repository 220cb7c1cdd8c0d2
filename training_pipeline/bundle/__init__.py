"""Training data on disk: the contract between the study and the training machine.

Travels to training machines: imports the standard library only.
"""
