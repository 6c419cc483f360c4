"""The collection of photographs is what its script makes, and is read as a collection."""

import numpy as np
from PIL import Image

import cranfield as cf
from cranfield.io.samples import sample_folder
from scripts.photos import make

FOLDER = sample_folder("photos")


def test_judgements_and_tags_are_what_the_script_makes():
    for name, text in make.texts().items():
        assert (FOLDER / name).read_text() == text, name


def test_the_collection_is_read():
    collection = cf.read_collection(FOLDER)
    assert collection.size == 144
    assert len(make.items()) == 144
    assert set(cf.read_qrels(collection.judgements).topics) == set(make.items())


def test_near_duplicates_are_changed_copies():
    pictures = {path.stem for path in (FOLDER / "near").glob("*.jpg")}
    assert pictures == {f"{t}_{c}" for t in make.near_topics() for c in make.CHANGES}
    for topic in make.near_topics():
        with (
            Image.open(FOLDER / "pictures" / f"{topic}.jpg") as tile,
            Image.open(FOLDER / "near" / f"{topic}_turn.jpg") as turned,
        ):
            there, back = np.asarray(tile.convert("RGB"), dtype=int), np.rot90(turned, -1)
            assert np.abs(there - back.astype(int)).mean() < 6
