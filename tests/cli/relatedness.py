"""Files for `cranfield relatedness`, and the command on them."""

import json
from pathlib import Path

from cranfield.cli import main

COUNTS = """\
# total: 100
# source: a site
# date: 2009-11-15
term,with,count
sea,,10
beach,,8
car,,20
sea,beach,6
sea,car,0
beach,car,1
"""
TAGS = "item,tags,text\n1,sea beach,\n2,sea;still life,a beach\n3,car,\n4,Sea|Beach,car\n"


def write_files():
    """Counts, tags, concepts and pairs, into the folder one is in."""
    Path("counts.csv").write_text(COUNTS)
    Path("tags.csv").write_text(TAGS)
    Path("concepts.txt").write_text("sea\nbeach\ncar\n")
    Path("pairs.csv").write_text("word1,word2,human\nsea,beach,3.5\nsea,car,0.5\nbeach,car,1\n")


def run(capsys, *argv):
    code = main(["relatedness", *argv])
    out, err = capsys.readouterr()
    return code, out, err


def answer(capsys, *argv):
    code, out, err = run(capsys, *argv, "--format", "json")
    assert (code, err) == (0, "")
    return json.loads(out)
