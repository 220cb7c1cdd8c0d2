"""`python -m training_pipeline.cli` is `training-pipeline`."""

from training_pipeline.cli import main

main()
