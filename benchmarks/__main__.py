"""`python -m benchmarks` is the way in."""

from benchmarks.command import main

raise SystemExit(main())
