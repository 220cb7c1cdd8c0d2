"""The study's items, read once in a process however many assets ask for them."""

from __future__ import annotations

from training_pipeline.study.config import Study
from training_pipeline.study.items import ItemIndex, item_files, read_index

_Fingerprint = tuple[tuple[str, int, int], ...]


class StudyItems:
    """Gives the index of all items, read again only when a file of items has changed."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._read: tuple[_Fingerprint, ItemIndex] | None = None

    def index(self) -> ItemIndex:
        """Return the index of the items as the files hold them now."""
        fingerprint = self._fingerprint()
        if self._read is None or self._read[0] != fingerprint:
            self._read = fingerprint, read_index(self._study)
        return self._read[1]

    def _fingerprint(self) -> _Fingerprint:
        files = [(file.path, file.path.stat()) for file in item_files(self._study) if file.path.exists()]
        return tuple((str(path), stat.st_size, stat.st_mtime_ns) for path, stat in files)
