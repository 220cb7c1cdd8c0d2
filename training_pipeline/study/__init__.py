"""What a Potato study is: config, schemas and their kinds, items, answers, reviews. Reads only."""
