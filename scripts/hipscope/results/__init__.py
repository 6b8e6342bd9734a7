"""The JSON files of a results folder: their schema, their numbers as text, and files that are written whole."""
