"""Real workers, real faults, and a judge that reads what handlers wrote into a file."""
