"""The study's ledger in `project.sqlite`: one module a table family, typed records in and out."""
