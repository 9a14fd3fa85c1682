"""The entry point `python -m benchmarks`."""

from benchmarks.command import main

raise SystemExit(main())
