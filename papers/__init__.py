"""Papers whose experiments anybody can run again: a harness for grids of many fits, and one folder for each paper."""
