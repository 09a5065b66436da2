"""The queue against a small model of it, on the real server."""
