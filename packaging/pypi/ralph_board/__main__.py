import sys

from ralph_board import main

sys.exit(main())
