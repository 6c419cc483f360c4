"""Scores while a model is trained: batches, scikit-learn's scorers, sentence-transformers.

Nothing of these libraries is imported here; their own objects are called as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cranfield._lazy import np
from cranfield.data.columns import plain_array
from cranfield.errors import UsageError
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate
from cranfield.evaluation.scores import Scores, Task, safe_key
from cranfield.features.search import search
from cranfield.measures.base import Measure

Measures = str | Measure | Iterable[str | Measure]


class StreamingEvaluation:
    """Batches of predictions, scored when they are all there, as torchmetrics does it.

    Parameters
    ----------
    measures
        As in `evaluate`, or in `evaluate_labels` with `task="labels"`.
    task
        "ranked" or "labels".

    Examples
    --------
    >>> stream = StreamingEvaluation("RR")
    >>> stream.update([0.2, 0.9, 0.4], [1, 0, 0], indexes=[0, 0, 1])
    >>> stream.update([0.7], [1], indexes=[1])
    >>> stream.compute().mean()
    {'run': {'RR': 0.75}}
    """

    def __init__(self, measures: Measures = DEFAULT_MEASURES, *, task: Task = "ranked") -> None:
        if task not in ("ranked", "labels"):
            raise UsageError(f"task={task!r} is not 'ranked' or 'labels'")
        self.measures, self.task = measures, task
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._batches: list[tuple[Any, Any, Any]] = []
        self._rows = 0

    def update(self, predictions: Any, target: Any, *, indexes: Any = None) -> None:
        """Add a batch.

        Parameters
        ----------
        predictions, target
            Arrays or tensors of one shape: scores and grades with a row for each topic, or
            confidences and labels with a row for each item.
        indexes
            The topic of each prediction, where these have one dimension; a topic may go on in a
            later batch.
        """
        scores, truth = np.asarray(plain_array(predictions)), np.asarray(plain_array(target))
        if scores.shape != truth.shape:
            raise UsageError(f"predictions {scores.shape} and target {truth.shape} differ in shape")
        if indexes is None:
            if scores.ndim != 2:
                raise UsageError(
                    "indexes= names the topic of each prediction, or give two dimensions"
                )
            topics = np.repeat(np.arange(len(scores)) + self._rows, scores.shape[1])
            self._rows += len(scores)
        else:
            topics = np.asarray(plain_array(indexes))
            if self.task == "labels" or topics.shape != scores.shape:
                raise UsageError("indexes= has a topic for each prediction of a ranking")
        # A copy: the loop that trains may use its buffers again.
        self._batches.append((topics.ravel(), scores.copy(), truth.copy()))

    def compute(self) -> Scores:
        """The scores of all batches so far."""
        if not self._batches:
            raise UsageError("no batch was added: update() comes before compute()")
        if self.task == "labels":
            truth, confidences = (np.concatenate([b[i] for b in self._batches]) for i in (2, 1))
            return evaluate_labels(truth, confidences, self.measures)
        topics, scores, grades = (
            np.concatenate([batch[i].ravel() for batch in self._batches]) for i in range(3)
        )
        items = np.arange(len(topics))
        return evaluate((topics, items, grades), {"run": (topics, items, scores)}, self.measures)


# What scikit-learn computes of the second of two classes, under these names.
OF_SECOND_CLASS = {
    "f1": "F.concept",
    "precision": "P.concept",
    "recall": "R.concept",
    "jaccard": "Jaccard.concept",
    "average_precision": "AP.concept",
    "roc_auc": "AUC",
}


def make_scorer(measure: str) -> Callable[[Any, Any, Any], float]:
    """A scorer for scikit-learn: `cross_val_score(model, X, y, scoring=make_scorer("OneError"))`.

    Parameters
    ----------
    measure
        A measure of labels, by any of its names. Where less is better the value is negative, as
        scikit-learn wants it. `f1`, `precision`, `recall`, `jaccard`, `average_precision` and
        `roc_auc` of two classes are those of the second, as there.

    Returns
    -------
    Callable
        Takes an estimator, features and the truth: classes, or a matrix of labels. Confidences come
        from `predict_proba`, else from `predict`.
    """

    name = OF_SECOND_CLASS.get(measure, measure)

    def score(estimator: Any, features: Any, truth: Any) -> float:
        truth = np.asarray(truth)
        classes = [str(c) for c in getattr(estimator, "classes_", ())] if truth.ndim == 1 else None
        if hasattr(estimator, "predict_proba"):
            predicted = estimator.predict_proba(features)
            if isinstance(predicted, list):  # one table for each label
                predicted = np.column_stack([table[:, -1] for table in predicted])
        else:
            predicted = estimator.predict(features)
        if classes is not None and np.ndim(predicted) == 2:
            # Of classes the most probable one is predicted, not whatever is above one half.
            truth = (np.array([str(c) for c in truth])[:, None] == np.array(classes)).astype(int)
            if measure_of_decisions(name):
                predicted = (np.argmax(predicted, axis=1)[:, None] == np.arange(len(classes))) * 1
            if len(classes) == 2 and measure in OF_SECOND_CLASS:
                truth, predicted = truth[:, 1:], predicted[:, 1:]
        scores = evaluate_labels(truth, predicted, name)
        value = scores.plain_means(scores.measures[0])[0]
        return -value if scores.measures[0].higher_is_better is False else value

    return score


def measure_of_decisions(name: str) -> bool:
    """Whether a measure asks for decisions, not for the order or size of confidences."""
    from cranfield.measures import measure_for

    return "labels" in measure_for(name, "labels").needs


class RetrievalEvaluator:
    """An evaluator for sentence-transformers: scores of a model that embeds queries and texts.

    Parameters
    ----------
    queries, corpus
        {id: text}.
    relevant
        {query: relevant ids}, or anything else that `evaluate` takes as judgements.
    measures
        As in `evaluate`; the first is the primary metric.
    name
        Begins every key, before an underscore.
    k
        How many texts are retrieved for each query.

    Examples
    --------
    >>> class Letters:
    ...     def encode(self, texts, **_):
    ...         return np.array([[text.count(c) for c in "abc"] for text in texts], float)
    >>> evaluator = RetrievalEvaluator({"q": "aab"}, {"x": "cc", "y": "ab"}, {"q": ["y"]}, "RR")
    >>> evaluator(Letters())
    {'rr': 1.0}
    """

    # What the trainer of sentence-transformers looks at.
    greater_is_better = True

    def __init__(
        self,
        queries: Mapping[str, str],
        corpus: Mapping[str, str],
        relevant: Any,
        measures: Measures = "nDCG@10 RR@10 R@100",
        *,
        name: str = "",
        k: int = 1000,
        batch_size: int = 32,
    ) -> None:
        self.queries, self.corpus, self.relevant = dict(queries), dict(corpus), relevant
        self.measures, self.name, self.k, self.batch_size = measures, name, k, batch_size
        self.primary_metric = ""
        self.scores: Scores | None = None

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """The scores of a model under plain keys; all of them are in `scores` afterwards."""
        texts, topics = (self._vectors(model, part) for part in (self.corpus, self.queries))
        found = search(texts, topics, items=list(self.corpus), k=self.k, distance="cosine")
        ids = list(self.queries)
        retrieved = {ids[int(t)]: items for t, items in found.run().to_dict().items()}
        self.scores = evaluate(self.relevant, {self.name or "model": retrieved}, self.measures)
        prefix = f"{self.name}_" if self.name else ""
        values = {prefix + key: value for key, value in self.scores.flat().items()}
        self.primary_metric = prefix + safe_key(str(self.scores.measures[0]))
        cards = getattr(model, "model_card_data", None)
        if cards is not None:
            cards.set_evaluation_metrics(self, values, epoch, steps)
        if output_path is not None:
            from pathlib import Path

            folder = Path(output_path)
            folder.mkdir(parents=True, exist_ok=True)
            self.scores.save(folder / f"cranfield_{self.name or 'scores'}_{epoch}_{steps}.json")
        return values

    def _vectors(self, model: Any, texts: Mapping[str, str]) -> Any:
        rows: Sequence[str] = list(texts.values())
        return np.asarray(
            plain_array(model.encode(rows, batch_size=self.batch_size, show_progress_bar=False))
        )
