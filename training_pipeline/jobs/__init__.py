"""The jobs a person starts: train, retract."""
