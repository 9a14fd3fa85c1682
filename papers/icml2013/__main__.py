"""`python -m papers.icml2013` is the way in."""

from papers.icml2013.command import main

raise SystemExit(main())
