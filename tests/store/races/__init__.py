"""Two transactions meet: one has changed a node and not committed, then the statement arrives."""
