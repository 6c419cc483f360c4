"""The texts that define the methods."""

from __future__ import annotations

from cranfield.measures.sources import REFERENCES as MEASURE_REFERENCES
from cranfield.measures.sources import Reference

REFERENCES: dict[str, Reference] = {
    "nowak-thesis": MEASURE_REFERENCES["nowak-thesis"],
    "pedersen-2004": Reference(
        "inproceedings", "Pedersen, Ted; Patwardhan, Siddharth; Michelizzi, Jason",
        "WordNet::Similarity: measuring the relatedness of concepts", 2004, "HLT-NAACL",
    ),
    "wu-palmer-1994": Reference(
        "inproceedings", "Wu, Zhibiao; Palmer, Martha", "Verb semantics and lexical selection",
        1994, "ACL",
    ),
    "leacock-chodorow-1998": Reference(
        "incollection", "Leacock, Claudia; Chodorow, Martin",
        "Combining local context and WordNet similarity for word sense identification", 1998,
        "WordNet: an electronic lexical database",
    ),
    "resnik-1995": Reference(
        "inproceedings", "Resnik, Philip",
        "Using information content to evaluate semantic similarity in a taxonomy", 1995, "IJCAI",
    ),
    "jiang-conrath-1997": Reference(
        "inproceedings", "Jiang, Jay J.; Conrath, David W.",
        "Semantic similarity based on corpus statistics and lexical taxonomy", 1997, "ROCLING",
    ),
    "lin-1998": Reference(
        "inproceedings", "Lin, Dekang", "An information-theoretic definition of similarity", 1998,
        "ICML",
    ),
    "hirst-st-onge-1998": Reference(
        "incollection", "Hirst, Graeme; St-Onge, David",
        "Lexical chains as representations of context for the detection and correction of "
        "malapropisms", 1998, "WordNet: an electronic lexical database",
    ),
    "banerjee-pedersen-2003": Reference(
        "inproceedings", "Banerjee, Satanjeev; Pedersen, Ted",
        "Extended gloss overlaps as a measure of semantic relatedness", 2003, "IJCAI",
    ),
    "patwardhan-2003": Reference(
        "mastersthesis", "Patwardhan, Siddharth",
        "Incorporating dictionary and corpus information into a context vector measure of "
        "semantic relatedness", 2003, "University of Minnesota, Duluth",
    ),
    "milne-witten-2008": Reference(
        "inproceedings", "Milne, David; Witten, Ian H.",
        "An effective, low-cost measure of semantic relatedness obtained from Wikipedia links",
        2008, "AAAI Workshop on Wikipedia and Artificial Intelligence",
    ),
}  # fmt: skip
