"""The digits collection as the material of studies."""

from pathlib import Path

import pytest

import cranfield
from cranfield.io.collection import read_collection
from cranfield.lab.study_input import StudyInput

DIGITS = Path(cranfield.__file__).parent / "samples" / "digits"


@pytest.fixture(scope="session")
def digits():
    return read_collection(DIGITS)


@pytest.fixture
def ranked(digits):
    return StudyInput.ranked(digits.judgements, list(digits.runs), "AP nDCG@10 RR NMRR")


@pytest.fixture
def labels(digits):
    return StudyInput.labels(
        digits.truth,
        list(digits.label_runs),
        "F.example OS HS AP.concept HammingLoss",
        ontology=digits.ontology,
        rules=digits.rules,
    )
