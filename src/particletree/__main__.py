"""`python -m particletree` is the command line."""

from particletree._commands.main import main

raise SystemExit(main())
