"""Makes the data of the collection `digits` that ships with Cranfield.

    python -m scripts.demo [FOLDER]

The images are scikit-learn's handwritten digits (pip install 'cranfield[ml]'). Every random draw
is seeded, so the same versions of numpy and scikit-learn make the same files again; others can
differ in the last digits, and in `network` and the pool a little more than that. The few files
that state facts and not results (collection.toml, ontology.csv, rules.toml, SOURCES.md) are
written by hand and lie beside what this script makes; SOURCES.md explains the rules in prose.
"""
