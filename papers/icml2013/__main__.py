"""The entry point `python -m papers.icml2013`."""

from papers.icml2013.command import main

raise SystemExit(main())
