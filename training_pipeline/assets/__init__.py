"""The graph that Dagster runs and shows: one file an asset, each a short body around plain functions."""
