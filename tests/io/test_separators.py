"""Tables that people make: whatever separates their cells, and blank lines before their header."""

import pytest

import cranfield as cf

LOG = "annotator,item,concept,value\n" + "".join(
    f"{who},{item},{concept},{(ord(who) + k) % 2}\n"
    for who in "abc"
    for k, item in enumerate(("i1", "i2", "i3"))
    for concept in ("Sky", "Sea")
)
COSTS = "concept,Sky,Sea\nSky,0,0.5\nSea,0.5,0\n"
AGREEMENT = "concept,agreement\nSky,0.9\nSea,0.5\n"
ONTOLOGY = "concept,path\nSky,Nature.Sky\nSea,Nature.Water.Sea\n"
CHANGES = {
    "semicolons": lambda text: text.replace(",", ";"),
    "tabs": lambda text: text.replace(",", "\t"),
    "blank lines first": lambda text: "\n\n" + text,
    "blank lines and quotes": lambda text: "\n" + text.replace("Sea", '"Sea"'),
    "all of it": lambda text: "\ufeff\r\n" + text.replace(",", ";").replace("\n", "\r\n"),
}


def read_log(path):
    log = cf.read_judgement_log(path)
    return log.annotators, log.items, log.concepts, log.values, log.value.tolist()


READERS = {
    "log": (read_log, LOG),
    "costs": (lambda path: cf.read_costmap(path).costs.tolist(), COSTS),
    "agreement": (lambda path: dict(cf.read_agreement(path).agreement), AGREEMENT),
    "ontology": (lambda path: cf.read_ontology(path).concepts, ONTOLOGY),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("what", READERS)
def test_a_table_says_the_same(tmp_path, what, change):
    read, text = READERS[what]
    plain, changed = tmp_path / "plain.csv", tmp_path / "changed.csv"
    plain.write_text(text)
    changed.write_bytes(CHANGES[change](text).encode())
    assert read(changed) == read(plain)


def test_returns_for_line_ends(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(LOG.replace("\n", "\r").encode())
    assert len(cf.read_judgement_log(path).value) == 18


@pytest.mark.parametrize("quote", ["", '"'])
def test_lines_are_counted_from_the_start_of_the_file(tmp_path, quote):
    path = tmp_path / "log.csv"
    path.write_text(f"\n\n{LOG}d,{quote}i1{quote},Sky\n")
    with pytest.raises(cf.CranfieldError, match=r"log.csv:22: 3 fields, expected 4"):
        cf.read_judgement_log(path)
