"""How things show themselves in a notebook: a line or a table, and a picture by the library's own drawing."""
from __future__ import annotations

import base64
import html
import os
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

from ._library import Error


class Shown:
    """Something with a picture; a notebook calls these functions."""

    def _draw(self, path: str) -> None:
        """Draws the picture, a .png. Error: there is none, because it would be too large, say."""
        raise NotImplementedError

    def _words(self) -> str:
        """What stands above the picture, as HTML."""
        return f"<p>{html.escape(repr(self).strip('<>'))}</p>"

    def _repr_png_(self) -> bytes | None:
        """The picture; None: there is none, and a notebook shows the words."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "picture.png")
            try:
                self._draw(path)
            except Error:
                return None
            with open(path, "rb") as file:
                return file.read()

    def _repr_html_(self) -> str:
        """The words, and the picture below them."""
        picture = self._repr_png_()
        if picture is None:
            return self._words()
        coded = base64.b64encode(picture).decode("ascii")
        return f'{self._words()}<img style="max-width: 100%" src="data:image/png;base64,{coded}">'


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as HTML: names on the left, numbers on the right."""
    def line(cells: Sequence[Any], tag: str) -> str:
        return "<tr>" + "".join(
            f'<{tag} style="text-align: {"right" if i else "left"}">{html.escape(str(cell))}</{tag}>'
            for i, cell in enumerate(cells)) + "</tr>"

    return f"<table>{line(columns, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"
