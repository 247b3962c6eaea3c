"""`python -m relay`: the command line where the `relay` script is not on the path."""

import sys

from relay.cli.main import main

sys.exit(main())
