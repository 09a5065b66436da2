"""Many real processes at one graph, some of them killed; what they did is in their logs."""
