from vicinal.duplicates._near_duplicates import near_duplicates as near_duplicates

__all__: list[str]
__all__ = [
    "near_duplicates",
]
