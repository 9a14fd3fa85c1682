"""`python -m particletree` is the command line."""

from particletree.cli import main

raise SystemExit(main())
