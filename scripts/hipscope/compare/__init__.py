"""Says what changed between two runs by more than its noise."""
