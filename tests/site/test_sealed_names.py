"""Names that only the truth knows are on no sealed page, also where no list says what is public."""

import cranfield as cf
from cranfield.cli import main

ITEMS = tuple(f"i{n}" for n in range(8))


def own_folder(place):
    """A collection as `init` finds it: no topics, items or concepts are listed."""
    place.mkdir()
    judged = [f"{t} 0 d{n} {int(n % 3 == 0)}\n" for t in "12" for n in range(9)]
    (place / "qrels.txt").write_text("".join([*judged, "secrettopic 0 d1 1\n"]))
    for k, run in enumerate("ab"):
        rows = [f"{t} Q0 d{(n + k) % 9} {n + 1} {9 - n} x\n" for t in "12" for n in range(9)]
        (place / f"{run}.run").write_text("".join(rows))
    truth = [f"{item},{n % 2},{n % 3 // 2},{n % 2}\n" for n, item in enumerate(ITEMS)]
    head = "item,Sky,Sea,secretconcept\n"
    (place / "truth.csv").write_text("".join([head, *truth, "secretitem,1,0,1\n"]))
    for k, run in enumerate("xy"):
        rows = [f"{item},0.{1 + (3 * n + k) % 8},0.{1 + n % 5}\n" for n, item in enumerate(ITEMS)]
        (place / f"{run}.csv").write_text("".join(["item,Sky,Sea\n", *rows]))
    assert main(["collection", "init", str(place), "--quiet"]) == 0
    return place


def test_a_sealed_site_names_what_runs_name_and_nothing_else(tmp_path):
    cf.publish(own_folder(tmp_path / "own"), tmp_path / "site", resamples=200)
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert not [path for path in files if b"secret" in path.read_bytes() or "secret" in path.name]
    text = (tmp_path / "site/results/labels/errors.html").read_text()
    assert "sealed concept 1" in text
    assert (tmp_path / "site/results/ranked/topic/1.html").is_file()


def test_a_released_site_names_them(tmp_path):
    cf.publish(own_folder(tmp_path / "own"), tmp_path / "site", release_truth=True, resamples=200)
    assert (tmp_path / "site/results/ranked/topic/secrettopic.html").is_file()
    assert (tmp_path / "site/results/labels/concept/secretconcept.html").is_file()


def test_a_public_report_counts_items_that_runs_miss_without_their_names(tmp_path):
    place = own_folder(tmp_path / "own")
    page = cf.collection_report(place, public=True)
    assert "secretitem" not in page
    assert "x, y: 1 of 9 items are missing; they count" in page
    assert "x, y: 1 of 9 items are missing ('secretitem')" in cf.collection_report(place)
