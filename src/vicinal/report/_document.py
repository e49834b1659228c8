"""`Document`: what every result of the report package can do with its page and its summary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from vicinal._core.files import atomic_write
from vicinal._core.pickles import Stamped

if TYPE_CHECKING:
    from os import PathLike


class Document(Stamped, ABC):
    """A result with a page and a summary in words."""

    @abstractmethod
    def _page(self) -> str:
        """HTML of the whole page."""

    @abstractmethod
    def _summary(self) -> str:
        """Text for a terminal."""

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write the report as one self-contained HTML file.

        The file is replaced only when all of it has been written.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        Path
            The file.
        """
        path = Path(path)
        page = self._page()
        with atomic_write(path) as unfinished:
            unfinished.write_text(page, encoding="utf-8")
        return path

    def summary(self) -> str:
        """Summarise the findings as text.

        Returns
        -------
        str
            Sentences and small tables for a terminal.
        """
        return self._summary()

    def __str__(self) -> str:
        return self._summary()
