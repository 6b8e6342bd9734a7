"""Results of the experiments: read, reported, compared, and of whole fleets; and what the compiled code says."""
