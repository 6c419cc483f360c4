"""What was written when a collection was published."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from cranfield.answers import Answer


@dataclass(frozen=True, repr=False, eq=False)
class Published(Answer):
    """What was written: the folder, its pages and files, and how large they are."""

    command: ClassVar[str] = "publish"

    folder: str
    tasks: tuple[str, ...]
    pages: int
    pictures: int
    files: int
    bytes: int
    released: bool
    verdicts: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def headline(self) -> str:
        return f"{self.pages} pages in {self.folder}"

    def payload(self, **_: Any) -> dict[str, Any]:
        """Counts, and the verdict on each task."""
        return {
            "folder": self.folder,
            "tasks": list(self.tasks),
            "pages": self.pages,
            "pictures": self.pictures,
            "files": self.files,
            "bytes": self.bytes,
            "released": self.released,
            "verdicts": {task: list(said) for task, said in self.verdicts.items()},
        }
