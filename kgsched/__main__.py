"""`python -m kgsched`."""

from kgsched.surfaces.cli.main import main

main()
