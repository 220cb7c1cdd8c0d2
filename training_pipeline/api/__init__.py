"""The web app: pictures of runs, and Dagster's own UI behind it."""
