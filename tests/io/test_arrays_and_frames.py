"""Matrices, tensors, results of an index, classes and lists of labels, wherever data are taken."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cranfield as cf

RELEVANT = np.array([[1, 0, 0, 2], [0, 1, 0, 0]])
SCORES = np.array([[0.9, 0.8, 0.1, 0.3], [0.1, 0.9, 0.3, 0.2]])
AS_DICTS = tuple(
    {str(i): {str(j): float(v) for j, v in enumerate(row)} for i, row in enumerate(table)}
    for table in (RELEVANT, SCORES)
)
LOG = {
    "task": ["a", "a", "a", "b", "b", "b"],
    "worker": ["u", "v", "w", "u", "v", "w"],
    "label": ["x", "x", "y", "y", "y", "y"],
}


def test_a_matrix_is_what_its_cells_are_as_a_dict():
    expected = cf.evaluate(*AS_DICTS, "AP nDCG").mean()
    assert cf.evaluate(RELEVANT, SCORES, "AP nDCG").mean() == expected
    named = cf.evaluate(RELEVANT, {"mine": SCORES, "same": SCORES}, "AP nDCG").mean()
    assert named == {"mine": expected["run"], "same": expected["run"]}


def test_a_sparse_matrix_has_what_it_stores():
    sparse = pytest.importorskip("scipy.sparse")
    scores = cf.evaluate(sparse.csr_array(RELEVANT), sparse.coo_array(SCORES), "AP nDCG")
    assert scores.mean() == cf.evaluate(*AS_DICTS, "AP nDCG").mean()


def test_a_tensor_on_the_graph_is_taken():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensor = torch.tensor(SCORES, requires_grad=True)
    expected = cf.evaluate(RELEVANT, SCORES, "AP").mean()
    assert cf.evaluate(torch.tensor(RELEVANT), tensor, "AP").mean() == expected
    assert cf.search(tensor, k=2).found.tolist() == cf.search(SCORES, k=2).found.tolist()
    half = cf.Run.from_matrix(tensor.to(torch.bfloat16))
    assert len(half) == SCORES.size


def test_cells_that_are_no_numbers_are_not_there():
    run = cf.Run.from_matrix([[0.5, np.nan, -np.inf]], topics=["q"], items=["a", "b", "c"])
    assert run.to_dict() == {"q": {"a": 0.5}}
    with pytest.raises(cf.InputError, match="2 items for 3 in the matrix"):
        cf.Run.from_matrix([[1.0, 2.0, 3.0]], items=["a", "b"])
    with pytest.raises(cf.InputError, match="expected numbers in two dimensions"):
        cf.Run.from_matrix([1.0, 2.0])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_an_index_answers(sign):
    """The order of the columns counts, whether the numbers are similarities or distances."""
    scores = sign * np.array([[0.9, 0.5, 0.4], [0.8, 0.1, 0.0]])
    places = np.array([[2, 0, 5], [1, 4, -1]])
    run = cf.Run.from_search(scores, places, topics=["p", "q"], items=list("abcdef"))
    ranked = {t: sorted(v, key=v.get, reverse=True) for t, v in run.to_dict().items()}
    assert ranked == {"p": ["c", "a", "f"], "q": ["b", "e"]}
    judged = {"0": {"5": 1}, "1": {"4": 1}}
    assert cf.evaluate(judged, (scores, places), "P@2").mean()["run"]["P@2"] == 0.25
    assert cf.evaluate(judged, {"flat": (scores, places)}, "R@3").mean()["flat"]["R@3"] == 1.0


def test_numbers_that_rise_and_fall_are_refused():
    with pytest.raises(cf.InputError, match="neither scores nor distances"):
        cf.Run.from_search([[0.1, 0.4], [0.4, 0.1]], [[0, 1], [1, 0]])
    with pytest.raises(cf.InputError, match="of one shape"):
        cf.Run.from_search([[0.1, 0.4]], [[0, 1, 2]])


def test_faiss_itself():
    faiss = pytest.importorskip("faiss", reason="faiss is not installed")
    rng = np.random.default_rng(3)
    vectors, queries = (rng.normal(size=(n, 8)).astype(np.float32) for n in (60, 5))
    for index in (faiss.IndexFlatL2(8), faiss.IndexFlatIP(8)):
        index.add(vectors)
        answer = index.search(queries, 20)
        run = cf.Run.from_search(*answer).to_dict()
        for topic, places in enumerate(answer[1]):
            items = run[str(topic)]
            assert sorted(items, key=items.get, reverse=True) == [str(p) for p in places]


def test_ids_as_arrays():
    ranked = {"q": np.array(["b", "a"]), "r": np.array([3, 1])}
    scores = cf.evaluate({"q": ["a"], "r": [3]}, ranked, "RR")
    assert [row["RR"] for row in scores.per_topic()] == [0.5, 1.0]


def test_search_in_an_array():
    vectors = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    assert cf.search(vectors, k=1).found.tolist() == [[1], [0], [1]]
    found = cf.search(vectors, np.array([[4.0, 4.0]]), items=["a", "b", "c"], k=2)
    # The query called 0 is not the first item: that one may be found.
    assert found.topics == ("0",)
    assert [found.items[i] for i in found.found[0]] == ["c", "b"]
    with pytest.raises(cf.InputError, match="3 vectors for 2 items"):
        cf.search(vectors, items=["a", "b"])


CLASSES = (np.array([0, 1, 2, 1, 0, 2, 2]), np.array([0, 1, 1, 1, 2, 2, 2]))
MACRO = {
    "f1_macro": "f1_score",
    "precision_macro": "precision_score",
    "recall_macro": "recall_score",
    "jaccard_macro": "jaccard_score",
}


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("noun", ["f1", "precision", "recall", "jaccard"])
def test_names_of_scorers_are_those_numbers(noun, average):
    metrics = pytest.importorskip("sklearn.metrics")
    truth, predicted = CLASSES
    expected = getattr(metrics, f"{noun}_score")(
        truth, predicted, average=average, zero_division=0.0
    )
    name = f"{noun}_{average}"
    scores = cf.evaluate_labels(truth, predicted, name)
    assert scores.mean()["run"][name] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("noun", ["f1", "precision", "recall", "jaccard"])
def test_names_of_scorers_over_samples(noun):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    truth, predicted = rng.random((2, 40, 6)) < 0.4
    truth[:, 0] = predicted[:, 0] = True  # no item without a label
    function = getattr(metrics, f"{noun}_score")
    expected = function(truth, predicted, average="samples")
    name = f"{noun}_samples"
    scores = cf.evaluate_labels(truth.astype(int), predicted.astype(int), name)
    assert scores.mean()["run"][name] == pytest.approx(expected, abs=1e-12)


def test_names_of_scorers_of_confidences():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(6)
    truth, confidence = (rng.random((50, 4)) < 0.4).astype(int), rng.random((50, 4))
    names = "average_precision roc_auc label_ranking_average_precision"
    mean = cf.evaluate_labels(truth, confidence, names).mean()["run"]
    judged = truth.any(axis=1)  # scikit-learn counts 1 for items without a label
    assert mean["average_precision"] == pytest.approx(
        metrics.average_precision_score(truth, confidence, average="macro")
    )
    assert mean["roc_auc"] == pytest.approx(metrics.roc_auc_score(truth, confidence))
    assert mean["label_ranking_average_precision"] == pytest.approx(
        metrics.label_ranking_average_precision_score(truth[judged], confidence[judged])
    )


def test_accuracy_of_classes():
    truth, predicted = CLASSES
    scores = cf.evaluate_labels(truth.tolist(), [predicted], "accuracy")
    assert scores.mean()["run1"]["accuracy"] == float((truth == predicted).mean())


def test_lists_of_labels():
    truth, run = [["sky"], ["sea", "sky"], []], [["sky"], ["sea"], ["sky"]]
    listed = cf.evaluate_labels(truth, {"mine": run}, "F.concept").mean()
    named = [{str(i): set(labels) for i, labels in enumerate(rows)} for rows in (truth, run)]
    assert listed == cf.evaluate_labels(named[0], {"mine": named[1]}, "F.concept").mean()
    assert cf.LabelMatrix.of([[0, 1], [2]]).concepts == ("0", "1", "2")
    assert cf.LabelMatrix.of([[0, 1], [1, 0]]).shape == (2, 2)
    with pytest.raises(cf.InputError, match="3 rows for 1 items"):
        cf.LabelMatrix.of(truth, items=["a"])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_frame_of_crowd_kit(make, tmp_path):
    frame = make(LOG)
    truth = cf.aggregate_judgements(frame)
    assert [(row["item"], row["category"]) for row in truth.rows()] == [("a", "x"), ("b", "y")]
    path = tmp_path / "log.csv"
    path.write_text("annotator,item,category\nu,a,x\nv,a,x\nw,a,y\nu,b,y\nv,b,y\nw,b,y\n")
    figures = [cf.assess_agreement(source).payload() for source in (frame, path, str(path))]
    assert figures[0] == figures[1] == figures[2]


def test_a_frame_with_a_column_for_each_annotator():
    frame = pd.DataFrame({"item": ["a", "b"], "u": ["x", "y"], "v": ["x", None], "w": ["y", "y"]})
    truth = cf.aggregate_judgements(frame)
    assert [row["category"] for row in truth.rows()] == ["x", "y"]
    assert truth.to_dict()["log"]["judgements"] == 5


def test_a_frame_that_is_no_log():
    with pytest.raises(cf.InputError, match="no column 'annotator' among item, grade"):
        cf.assess_agreement(pd.DataFrame({"item": ["a"], "grade": [1]}))
    with pytest.raises(cf.InputError, match="row 1 has no category"):
        cf.assess_agreement(pd.DataFrame(LOG | {"label": ["x", None, "x", "x", "x", "x"]}))


def test_reprs_are_short():
    table = {str(t): {str(i): 1.0 for i in range(40)} for t in range(60)}
    assert repr(cf.Run.from_dict(table).named("bm25")) == "<Run bm25: 2400 rows, 60 topics>"
    assert repr(cf.Judgements.from_dict(table)) == "<Judgements: 2400 rows, 60 topics>"
    assert repr(cf.LabelMatrix.of(np.eye(9))) == "<LabelMatrix labels: 9 items, 9 concepts>"


def test_progress_is_shown_to_people(capsys):
    cf.evaluate(RELEVANT, SCORES, "AP", progress=True)
    assert "100 %" in capsys.readouterr().err
    cf.evaluate(RELEVANT, SCORES, "AP", progress=False)
    assert capsys.readouterr().err == ""


def test_catalogues_iterate():
    measures = cf.list_measures()
    assert len(measures) == len(list(measures)) > 100
    assert {m.name for m in measures} >= {"AP", "nDCG"}
    assert [m.name for m in cf.list_methods()]
    assert [d.name for d in cf.list_descriptors()]


def test_a_matrix_of_another_shape_is_no_run():
    """The k best scores without their places would count as those of the first k items."""
    with pytest.raises(cf.InputError, match=r"has 2 x 3 scores for 2 x 4 judgements.*from_search"):
        cf.evaluate(RELEVANT, {"best": -np.sort(-SCORES)[:, :3]}, "AP")
    with pytest.raises(cf.InputError, match=r"has 1 x 4 scores for 2 x 4"):
        cf.compare(RELEVANT, [SCORES, SCORES[:1]], "AP")


ONE_RUN = {
    "F.concept": {
        "numbers": ([0, 1, 2, 1], [0, 1, 1, 1], 0.6),
        "texts": (["cat", "dog", "owl", "dog"], ["cat", "dog", "dog", "dog"], 0.6),
        "by item": ({"a": "sky", "b": "sea"}, {"a": "sky", "b": "sky"}, 1 / 3),
        "numbers by item": ({"a": 0, "b": 1}, {"a": 0, "b": 0}, 1 / 3),
        "lists by item": ({"a": ["sky"], "b": ["sea"]}, {"a": ["sky"], "b": ["sky"]}, 1 / 3),
    },
    "F.example": {
        "lists": ([["sky"], ["sea", "sky"]], [["sky"], ["sea"]], 5 / 6),
        "table": ([[1, 0], [1, 1]], [[1, 0], [0, 1]], 5 / 6),
        "array and table": (np.array([[1, 0], [1, 1]]), [[1, 0], [0, 1]], 5 / 6),
    },
}


@pytest.mark.parametrize(
    ("measure", "truth", "run", "value"),
    [(m, *case) for m, cases in ONE_RUN.items() for case in cases.values()],
    ids=[name for cases in ONE_RUN.values() for name in cases],
)
def test_a_run_in_the_form_of_the_truth_is_one_run(measure, truth, run, value):
    assert cf.evaluate_labels(truth, run, measure).mean()["run"][measure] == pytest.approx(value)
    named = cf.evaluate_labels(truth, {"mine": run}, measure)
    assert named.mean()["mine"][measure] == pytest.approx(value)
    several = cf.evaluate_labels(truth, [run, run], measure)
    assert [row[measure] for row in several.mean().values()] == pytest.approx([value, value])


def test_a_class_is_no_list_of_letters():
    assert cf.LabelMatrix.of({"a": "sky", "b": "sea"}).concepts == ("sea", "sky")


def test_lists_of_files_are_runs(tmp_path):
    path = tmp_path / "cat"
    path.write_text("item,concept,value\n0,cat,1\n1,dog,1\n")
    scores = cf.evaluate_labels(["cat", "dog"], [str(path)], "F.example")
    assert scores.mean() == {"cat": {"F.example": 1.0}}


def test_what_cannot_be_labels_says_what_can():
    with pytest.raises(cf.UsageError, match=r"cannot read labels from NoneType \(truth\); give"):
        cf.evaluate_labels(None, [0, 1], "F.example")
    with pytest.raises(cf.InputError, match=r"one number for each item.*array\[:, None\]"):
        cf.evaluate_labels([0, 1, 1], [0.2, 0.7, 0.4], "AUC")
    with pytest.raises(cf.InputError, match=r"unknown concept '5'.*concepts="):
        cf.evaluate_labels([0, 1], [0, 5], "F.concept")


def test_the_f1_of_classes_says_which_it_is():
    metrics = pytest.importorskip("sklearn.metrics")
    truth, predicted = [1, 1, 1, 0], [1, 1, 1, 1]
    scores = cf.evaluate_labels(truth, predicted, "f1")
    assert "F.example is the share of right classes" in scores.notes[-1]
    of_class = cf.evaluate_labels(truth, predicted, "F.concept", concepts=["1"])
    assert of_class.flat()["f_concept"] == pytest.approx(metrics.f1_score(truth, predicted))
    assert not cf.evaluate_labels([["a", "b"], ["a"]], [["a"], ["a"]], "f1").notes
