"""The trainers: one file each, a registry, and what they share.

Travels to training machines: imports nothing else of the package but `bundle`, and libraries only when they are used.
"""
