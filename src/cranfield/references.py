"""Where things are defined: the texts behind measures and methods, for help and citations."""

from __future__ import annotations

from typing import NamedTuple


class Reference(NamedTuple):
    """A publication, with what a BibTeX entry needs."""

    kind: str
    authors: str
    title: str
    year: int
    venue: str

    def __str__(self) -> str:
        return f"{self.authors} ({self.year}). {self.title}. {self.venue}."

    def bibtex(self, key: str) -> str:
        """A BibTeX entry."""
        venue_fields = {"article": "journal", "inproceedings": "booktitle", "phdthesis": "school"}
        fields = {
            "author": self.authors.replace(", and ", " and ").replace("; ", " and "),
            "title": "{" + self.title + "}",
            venue_fields.get(self.kind, "howpublished"): self.venue,
            "year": str(self.year),
        }
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        return f"@{self.kind}{{{key},\n{body}\n}}"


class Source(NamedTuple):
    """Where a measure or method is defined, and how the code departs from that text."""

    key: str
    equations: str = ""
    deviation: str = ""


REFERENCES: dict[str, Reference] = {
    "trec_eval": Reference(
        "misc", "Buckley, Chris; Soboroff, Ian", "trec_eval 10.0", 2024,
        "National Institute of Standards and Technology",
    ),
    "buckley-voorhees-bpref": Reference(
        "inproceedings", "Buckley, Chris; Voorhees, Ellen M.",
        "Retrieval evaluation with incomplete information", 2004, "SIGIR",
    ),
    "yilmaz-aslam-infap": Reference(
        "inproceedings", "Yilmaz, Emine; Aslam, Javed A.",
        "Estimating average precision with incomplete and imperfect judgments", 2006, "CIKM",
    ),
    "yilmaz-kanoulas-aslam-xinfap": Reference(
        "inproceedings", "Yilmaz, Emine; Kanoulas, Evangelos; Aslam, Javed A.",
        "A simple and efficient sampling method for estimating AP and NDCG", 2008, "SIGIR",
    ),
    "jarvelin-kekalainen": Reference(
        "article", "Järvelin, Kalervo; Kekäläinen, Jaana",
        "Cumulated gain-based evaluation of IR techniques", 2002,
        "ACM Transactions on Information Systems 20(4)",
    ),
    "burges-exp-gain": Reference(
        "inproceedings", "Burges, Chris and others",
        "Learning to rank using gradient descent", 2005, "ICML",
    ),
    "moffat-zobel-rbp": Reference(
        "article", "Moffat, Alistair; Zobel, Justin",
        "Rank-biased precision for measurement of retrieval effectiveness", 2008,
        "ACM Transactions on Information Systems 27(1)",
    ),
    "chapelle-err": Reference(
        "inproceedings", "Chapelle, Olivier; Metzler, Donald; Zhang, Ya; Grinspan, Pierre",
        "Expected reciprocal rank for graded relevance", 2009, "CIKM",
    ),
    "clarke-novelty": Reference(
        "inproceedings", "Clarke, Charles L. A. and others",
        "Novelty and diversity in information retrieval evaluation", 2008, "SIGIR",
    ),
    "clarke-nrbp": Reference(
        "inproceedings", "Clarke, Charles L. A.; Kolla, Maheedhar; Vechtomova, Olga",
        "An effectiveness measure for ambiguous and underspecified queries", 2009, "ICTIR",
    ),
    "agrawal-diversifying": Reference(
        "inproceedings", "Agrawal, Rakesh; Gollapudi, Sreenivas; Halverson, Alan; Ieong, Samuel",
        "Diversifying search results", 2009, "WSDM",
    ),
    "zhai-subtopics": Reference(
        "inproceedings", "Zhai, ChengXiang; Cohen, William W.; Lafferty, John",
        "Beyond independent relevance: methods and evaluation metrics for subtopic retrieval",
        2003, "SIGIR",
    ),
    "webber-rbo": Reference(
        "article", "Webber, William; Moffat, Alistair; Zobel, Justin",
        "A similarity measure for indefinite rankings", 2010,
        "ACM Transactions on Information Systems 28(4)",
    ),
    "robertson-yaap": Reference(
        "inproceedings", "Robertson, Stephen", "On smoothing average precision", 2012, "ECIR",
    ),
    "mcsherry-najork-ties": Reference(
        "inproceedings", "McSherry, Frank; Najork, Marc",
        "Computing information retrieval performance measures efficiently in the presence of "
        "tied scores", 2008, "ECIR",
    ),
    "chatzichristofis-mnro": Reference(
        "article", "Chatzichristofis, Savvas A. and others",
        "Mean normalized retrieval order (MNRO)", 2013, "Multimedia Tools and Applications",
    ),
    "lowe-2004": Reference(
        "article", "Lowe, David G.",
        "Distinctive image features from scale-invariant keypoints", 2004,
        "International Journal of Computer Vision",
    ),
    "onnx": Reference(
        "misc", "ONNX community", "Open neural network exchange", 2017, "onnx.ai",
    ),
    "nowak-thesis": Reference(
        "phdthesis", "Nowak, Stefanie",
        "Evaluation methodologies for visual information retrieval and annotation", 2011,
        "Technische Universität Ilmenau",
    ),
    "rocchio-evaluation": Reference(
        "phdthesis", "Rocchio, Joseph J.",
        "Document retrieval systems: optimization and evaluation, chapter 5", 1966,
        "Harvard University",
    ),
    "santini-no-ground-truth": Reference(
        "inproceedings", "Santini, Simone", "Benchmarking without ground truth", 2006,
        "SPIE Internet Imaging VII",
    ),
    "shrec-2006": Reference(
        "misc", "Veltkamp, Remco C. and others",
        "SHREC 2006: 3D shape retrieval contest, performance measures used", 2006,
        "Utrecht University",
    ),
    "cranfield-extensions": Reference(
        "misc", "Cranfield", "Extensions of ours, which no source defines", 2026,
        "docs/explanation/whole-rankings.md",
    ),
    "scikit-learn": Reference(
        "article", "Pedregosa, Fabian and others", "Scikit-learn: machine learning in Python", 2011,
        "Journal of Machine Learning Research 12",
    ),
    "cohen-1960": Reference(
        "article", "Cohen, Jacob", "A coefficient of agreement for nominal scales", 1960,
        "Educational and Psychological Measurement 20(1)",
    ),
    # Relatedness of concepts.
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
    # Descriptors of pictures and distances of vectors.
    "chatzichristofis-cedd": Reference(
        "inproceedings", "Chatzichristofis, Savvas A.; Boutalis, Yiannis S.",
        "CEDD: color and edge directivity descriptor", 2008, "ICVS",
    ),
    "chatzichristofis-fcth": Reference(
        "inproceedings", "Chatzichristofis, Savvas A.; Boutalis, Yiannis S.",
        "FCTH: fuzzy color and texture histogram", 2008, "WIAMIS",
    ),
    "chatzichristofis-jcd": Reference(
        "article", "Chatzichristofis, Savvas A.; Boutalis, Yiannis S.; Lux, Mathias",
        "Selection of the proper compact composite descriptor for improving content based image "
        "retrieval", 2009, "SPPRA",
    ),
    "chatzichristofis-spcd": Reference(
        "inproceedings", "Chatzichristofis, Savvas A.; Boutalis, Yiannis S.; Lux, Mathias",
        "SpCD - Spatial color distribution descriptor: a fuzzy rule based compact composite "
        "descriptor appropriate for hand drawn color sketches retrieval", 2010, "ICAART",
    ),
    "chatzichristofis-btdh": Reference(
        "article", "Chatzichristofis, Savvas A.; Boutalis, Yiannis S.",
        "Content based radiology image retrieval using a fuzzy rule based scalable composite "
        "descriptor", 2010, "Multimedia Tools and Applications 46",
    ),
    "bay-2008": Reference(
        "article", "Bay, Herbert; Ess, Andreas; Tuytelaars, Tinne; Van Gool, Luc",
        "Speeded-up robust features (SURF)", 2008, "Computer Vision and Image Understanding 110",
    ),
    "mpeg7-visual": Reference(
        "misc", "ISO/IEC", "Multimedia content description interface, part 3: visual", 2002,
        "ISO/IEC 15938-3",
    ),
    "swain-ballard-1991": Reference(
        "article", "Swain, Michael J.; Ballard, Dana H.", "Color indexing", 1991,
        "International Journal of Computer Vision 7(1)",
    ),
    "van-de-sande-2010": Reference(
        "article", "van de Sande, Koen E. A.; Gevers, Theo; Snoek, Cees G. M.",
        "Evaluating color descriptors for object and scene recognition", 2010,
        "IEEE Transactions on Pattern Analysis and Machine Intelligence 32(9)",
    ),
    "huang-1997": Reference(
        "inproceedings", "Huang, Jing and others",
        "Image indexing using color correlograms", 1997, "CVPR",
    ),
    "tamura-1978": Reference(
        "article", "Tamura, Hideyuki; Mori, Shunji; Yamawaki, Takashi",
        "Textural features corresponding to visual perception", 1978,
        "IEEE Transactions on Systems, Man, and Cybernetics 8(6)",
    ),
    "ojala-1996": Reference(
        "article", "Ojala, Timo; Pietikäinen, Matti; Harwood, David",
        "A comparative study of texture measures with classification based on featured "
        "distributions", 1996, "Pattern Recognition 29(1)",
    ),
    "bosch-2007": Reference(
        "inproceedings", "Bosch, Anna; Zisserman, Andrew; Munoz, Xavier",
        "Representing shape with a spatial pyramid kernel", 2007, "CIVR",
    ),
    "fox-shaw-1994": Reference(
        "inproceedings",
        "Fox, Edward A.; Shaw, Joseph A.",
        "Combination of multiple searches",
        1994,
        "TREC-2",
    ),
    "aslam-montague-2001": Reference(
        "inproceedings",
        "Aslam, Javed A.; Montague, Mark",
        "Models for metasearch",
        2001,
        "SIGIR",
    ),
    "montague-aslam-2001": Reference(
        "inproceedings",
        "Montague, Mark; Aslam, Javed A.",
        "Relevance score normalization for metasearch",
        2001,
        "CIKM",
    ),
    "cormack-2009": Reference(
        "inproceedings",
        "Cormack, Gordon V.; Clarke, Charles L. A.; Büttcher, Stefan",
        "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
        2009,
        "SIGIR",
    ),
    "lin-1991": Reference(
        "article", "Lin, Jianhua", "Divergence measures based on the Shannon entropy", 1991,
        "IEEE Transactions on Information Theory 37(1)",
    ),
    "brier-1950": Reference(
        "article", "Brier, Glenn W.", "Verification of forecasts expressed in terms of probability",
        1950, "Monthly Weather Review 78(1)",
    ),
    "ilsvrc-2015": Reference(
        "article", "Russakovsky, Olga; Deng, Jia; Su, Hao; et al.",
        "ImageNet Large Scale Visual Recognition Challenge", 2015,
        "International Journal of Computer Vision 115(3)",
    ),
    "deselaers-irma": Reference(
        "article", "Deselaers, Thomas; Deserno, Thomas M.; Müller, Henning",
        "Automatic medical image annotation in ImageCLEF 2007: Overview, results, and discussion",
        2008, "Pattern Recognition Letters 29(15)",
    ),
    "caputo-robot-vision": Reference(
        "inproceedings", "Caputo, Barbara; Pronobis, Andrzej; Jensfelt, Patric",
        "Overview of the CLEF 2009 Robot Vision Track", 2009,
        "Working Notes for the CLEF 2009 Workshop",
    ),
    "guo-2017": Reference(
        "inproceedings", "Guo, Chuan; Pleiss, Geoff; Sun, Yu; Weinberger, Kilian Q.",
        "On calibration of modern neural networks", 2017, "ICML",
    ),
    "robertson-gap": Reference(
        "inproceedings", "Robertson, Stephen E.; Kanoulas, Evangelos; Yilmaz, Emine",
        "Extending average precision to graded relevance judgments", 2010, "SIGIR",
    ),
    "kekalainen-jarvelin-2002": Reference(
        "article", "Kekäläinen, Jaana; Järvelin, Kalervo",
        "Using graded relevance assessments in IR evaluation", 2002, "JASIST 53(13)",
    ),
    "spearman-1904": Reference(
        "article", "Spearman, Charles",
        "The proof and measurement of association between two things", 1904,
        "American Journal of Psychology 15(1)",
    ),
    "lin-coco": Reference(
        "inproceedings", "Lin, Tsung-Yi; Maire, Michael; Belongie, Serge; Hays, James; et al.",
        "Microsoft COCO: common objects in context", 2014, "ECCV",
    ),
    "everingham-voc": Reference(
        "article", "Everingham, Mark; Van Gool, Luc; Williams, Christopher K. I.; et al.",
        "The PASCAL visual object classes (VOC) challenge", 2010,
        "International Journal of Computer Vision 88(2)",
    ),
    "oksuz-lrp": Reference(
        "inproceedings", "Oksuz, Kemal; Cam, Baris Can; Akbas, Emre; Kalkan, Sinan",
        "Localization recall precision (LRP): a new performance metric for object detection", 2018,
        "ECCV",
    ),
    "kirillov-panoptic": Reference(
        "inproceedings",
        "Kirillov, Alexander; He, Kaiming; Girshick, Ross; Rother, Carsten; Dollár, Piotr",
        "Panoptic segmentation", 2019, "CVPR",
    ),
    "kendall-1945": Reference(
        "article", "Kendall, Maurice G.", "The treatment of ties in ranking problems", 1945,
        "Biometrika 33(3)",
    ),
}  # fmt: skip
