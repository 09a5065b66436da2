"""The door for agents: the Model Context Protocol."""
