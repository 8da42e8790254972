"""Input, in the order the data takes: files, plans, datasets, feeds."""
