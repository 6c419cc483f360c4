"""Makes the data of the collection `digits`."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.demo.annotation import annotation_files, earlier_files
from scripts.demo.annotators import agreement_files
from scripts.demo.images import image_sheet, item_files, load, write
from scripts.demo.retrieval import retrieval_files
from scripts.demo.subjects import caption_files, subject_files

FOLDER = Path(__file__).resolve().parents[2] / "src" / "cranfield" / "samples" / "digits"


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the data of the collection 'digits'.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    folder: Path = parser.parse_args().folder
    from threadpoolctl import threadpool_limits

    data = load()
    # Sums over several threads differ in their last digits, and training enlarges that.
    with threadpool_limits(1):
        learned = (annotation_files, earlier_files)
        for make in (item_files, retrieval_files, *learned, agreement_files):
            write(folder, make(data))
    for make in (caption_files, subject_files):
        write(folder, make(data))
    write(folder, {"images.png": image_sheet(data.pixels)})


if __name__ == "__main__":
    main()
