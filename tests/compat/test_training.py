"""Scores while a model is trained, against the libraries themselves where they are installed."""

import numpy as np
import pytest

import cranfield as cf
from cranfield.compat.training import RetrievalEvaluator, StreamingEvaluation, make_scorer

RNG = np.random.default_rng(11)
SCORES, GRADES = RNG.random((6, 20)), (RNG.random((6, 20)) < 0.2).astype(int)


def test_batches_are_the_whole():
    stream = StreamingEvaluation("AP nDCG@10")
    for at in range(0, 6, 2):
        stream.update(SCORES[at : at + 2], GRADES[at : at + 2])
    whole = cf.evaluate(GRADES, SCORES, "AP nDCG@10").mean()["run"]
    assert stream.compute().mean()["run"] == pytest.approx(whole)
    stream.reset()
    with pytest.raises(cf.UsageError, match="no batch was added"):
        stream.compute()


def test_a_topic_may_go_on_in_a_later_batch_and_buffers_may_be_used_again():
    stream, buffer = StreamingEvaluation("AP"), np.empty(40)
    topics = np.repeat(np.arange(6), 20)
    for at in range(0, 120, 40):
        buffer[:] = SCORES.ravel()[at : at + 40]
        stream.update(buffer, GRADES.ravel()[at : at + 40], indexes=topics[at : at + 40])
    assert stream.compute().mean()["run"] == pytest.approx(
        cf.evaluate(GRADES, SCORES, "AP").mean()["run"]
    )


def test_batches_of_labels():
    stream = StreamingEvaluation("AP.concept F.example", task="labels")
    for at in range(0, 6, 3):
        stream.update(SCORES[at : at + 3], GRADES[at : at + 3])
    whole = cf.evaluate_labels(GRADES, SCORES, "AP.concept F.example")
    assert stream.compute().mean() == whole.mean()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [1]), "differ in shape"),
        (([1.0, 2.0], [1, 0]), "indexes= names the topic"),
    ],
)
def test_batches_that_cannot_be_scored(arguments, message):
    with pytest.raises(cf.UsageError, match=message):
        StreamingEvaluation().update(*arguments)


def test_torchmetrics_has_the_same_numbers():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    retrieval = pytest.importorskip("torchmetrics.retrieval", reason="torchmetrics is missing")
    theirs, ours = retrieval.RetrievalMAP(), StreamingEvaluation("AP")
    topics = torch.arange(6).repeat_interleave(20)
    batch = (torch.tensor(SCORES).ravel(), torch.tensor(GRADES).ravel())
    theirs.update(*batch, indexes=topics)
    ours.update(*batch, indexes=topics)
    judged = [row["AP"] for row in ours.compute().per_topic()]
    assert float(theirs.compute()) == pytest.approx(np.mean(judged), abs=1e-6)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("accuracy", "accuracy"), ("f1_macro", "f1_macro"), ("AUC", "roc_auc_ovr")],
)
def test_a_scorer_of_scikit_learn(name, theirs):
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.datasets import load_iris
    from sklearn.model_selection import cross_val_score

    data, classes = load_iris(return_X_y=True)
    model = linear_model.LogisticRegression(max_iter=500)
    ours = cross_val_score(model, data, classes, scoring=make_scorer(name), cv=3)
    assert ours == pytest.approx(cross_val_score(model, data, classes, scoring=theirs, cv=3))


@pytest.mark.parametrize(
    "name", ["f1", "precision", "recall", "jaccard", "average_precision", "roc_auc"]
)
@pytest.mark.parametrize("as_text", [False, True])
def test_a_scorer_of_two_classes_is_of_the_second(name, as_text):
    linear_model = pytest.importorskip("sklearn.linear_model")
    metrics = pytest.importorskip("sklearn.metrics")
    data = RNG.normal(size=(90, 3))
    classes = (data[:, 0] + RNG.normal(size=90) > 0.8).astype(int)
    if as_text:
        classes = np.array(["no", "yes"])[classes]
    model = linear_model.LogisticRegression().fit(data, classes)
    if name in ("roc_auc", "average_precision"):
        function = {"roc_auc": metrics.roc_auc_score}.get(name, metrics.average_precision_score)
        expected = function(classes == model.classes_[1], model.predict_proba(data)[:, 1])
    else:
        function = getattr(metrics, f"{name}_score")
        expected = function(classes, model.predict(data), pos_label=model.classes_[1])
    assert make_scorer(name)(model, data, classes) == pytest.approx(expected)


def test_a_scorer_where_less_is_better_is_negative():
    linear_model = pytest.importorskip("sklearn.linear_model")
    data = RNG.normal(size=(60, 3))
    model = linear_model.LogisticRegression().fit(data, data[:, 0] > 0)
    assert make_scorer("OneError")(model, data, (data[:, 1] > 0).astype(int).astype(bool)) <= 0


def test_an_evaluator_of_sentence_transformers(tmp_path):
    library = pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )
    tokenizers = pytest.importorskip("tokenizers")
    models = pytest.importorskip("sentence_transformers.models")
    words = ["the", "cat", "dog", "sat", "ran", "home", "far", "away"]
    vocabulary = {word: i for i, word in enumerate(["[UNK]", *words])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    static = models.StaticEmbedding(tokenizer, embedding_weights=np.eye(9, dtype=np.float32))
    model = library.SentenceTransformer(modules=[static], device="cpu")
    evaluator = RetrievalEvaluator(
        {"q1": "cat home", "q2": "dog far"},
        {"a": "the cat sat home", "b": "the dog ran far away", "c": "the dog sat"},
        {"q1": ["a"], "q2": ["b"]},
        "MRR@10 nDCG@10",
        name="toy",
    )
    values = evaluator(model, output_path=str(tmp_path))
    assert values == {"toy_rr_at_10": 1.0, "toy_ndcg_at_10": 1.0}
    assert evaluator.primary_metric == "toy_rr_at_10"
    assert cf.load(next(tmp_path.iterdir())).mean() == evaluator.scores.mean()
    assert model.evaluate(evaluator) == values


def test_mlflow_logs_the_means_in_one_line(tmp_path, monkeypatch):
    library = pytest.importorskip("mlflow", reason="mlflow is not installed")
    monkeypatch.chdir(tmp_path)
    scores = cf.evaluate(GRADES, {"a": SCORES, "b": -SCORES}, "AP nDCG@10")
    library.set_tracking_uri(tmp_path.as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    library.set_experiment("cranfield")
    with library.start_run() as run:
        library.log_metrics(scores.flat())
    assert library.get_run(run.info.run_id).data.metrics == pytest.approx(scores.flat())


def test_duckdb_reads_the_frames():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    rows = cf.evaluate(GRADES, SCORES, "AP").to_arrow()
    assert rows.num_rows == len(GRADES)
    mean = duckdb.sql('select avg("AP") from rows').fetchall()[0][0]
    assert mean == pytest.approx(cf.evaluate(GRADES, SCORES, "AP").mean()["run"]["AP"])
    table = duckdb.sql("select 'q' as topic, 'd' as item, 1.0 as score").to_arrow_table()
    assert cf.evaluate({"q": {"d": 1}}, table, "RR").mean()["run"]["RR"] == 1.0
