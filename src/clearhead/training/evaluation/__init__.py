"""How good a translator is, and what its attention looks at: measures, and the whole suite."""

__all__: list[str] = []
