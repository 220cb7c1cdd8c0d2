"""What leaves a run: predictions shown to annotators as pre-labels."""
