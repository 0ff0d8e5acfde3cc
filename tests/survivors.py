"""Mutants that change nothing a user could see, each with the reason."""

HARMLESS: dict[str, dict[str, str]] = {}
