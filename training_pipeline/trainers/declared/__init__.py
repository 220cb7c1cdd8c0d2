"""Trainers of later versions: what they will be, so that a config that has their params can be checked whole."""
