from vicinal.tables.encoder import TableEncoder as TableEncoder

__all__: list[str]
__all__ = [
    "TableEncoder",
]
