"""The broad classes of WordNet: the lexicographers' files, and how tag studies group them."""

from __future__ import annotations

# The files in the order in which the database numbers them (man 5 lexnames).
LEXICOGRAPHER_FILES = (
    *("adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal"),
    *("noun.artifact", "noun.attribute", "noun.body", "noun.cognition", "noun.communication"),
    *("noun.event", "noun.feeling", "noun.food", "noun.group", "noun.location", "noun.motive"),
    *("noun.object", "noun.person", "noun.phenomenon", "noun.plant", "noun.possession"),
    *("noun.process", "noun.quantity", "noun.relation", "noun.shape", "noun.state"),
    *("noun.substance", "noun.time", "verb.body", "verb.change", "verb.cognition"),
    *("verb.communication", "verb.competition", "verb.consumption", "verb.contact"),
    *("verb.creation", "verb.emotion", "verb.motion", "verb.perception", "verb.possession"),
    *("verb.social", "verb.stative", "verb.weather", "adj.ppl"),
)
OTHER = "other"
# The classes of Sigurbjörnsson and van Zwol (2008), as No 5.4 reports them.
BROAD = {
    "noun.location": "location",
    "noun.artifact": "artefact or object",
    "noun.object": "artefact or object",
    "noun.person": "person or group",
    "noun.group": "person or group",
    "noun.act": "action or event",
    "noun.event": "action or event",
    "noun.time": "time",
}
BROAD_CLASSES = (*dict.fromkeys(BROAD.values()), OTHER)


def broad_class(file: str) -> str:
    """The broad class of what stands in a lexicographers' file."""
    return BROAD.get(file, OTHER)
