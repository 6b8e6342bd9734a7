"""Makes a readable page and plots from the JSON files of a results folder."""
