"""Weak labels asked of files: vectors or a folder of pictures, and tags."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from cranfield.agreement.weaklabel import WeakLabels, filter_weak_labels
from cranfield.io.weak_labels import read_features, read_tags
from cranfield.notes import Progress, Watcher


def filter_weak_files(
    features: str | Path,
    tags: str | Path,
    *,
    descriptors: str = "CEDD EHD Tamura",
    truth: str | Path | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> WeakLabels:
    """`filter_weak_labels` of a file of vectors, or of a folder of pictures by `descriptors`."""
    told = Progress.of(progress)
    notes: tuple[str, ...] = ()
    if Path(features).is_dir():
        from cranfield.features.collections import picture_features

        items, vectors, notes = picture_features(features, descriptors)
    else:
        items, vectors = read_features(features)
    answer = filter_weak_labels(
        items,
        vectors,
        read_tags(tags),
        truth=read_tags(truth) if truth else None,
        progress=told.part(0.1, 1.0),
        **options,
    )
    return replace(answer, notes=(*notes, *answer.notes))
