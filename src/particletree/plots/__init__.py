"""What pictures have in common. The only room, with the benchmarks' own plots, that knows matplotlib."""
