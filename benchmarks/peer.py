"""One peer evaluates one run from files and prints eight means: run as a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path


def pytrec_eval(qrels: str, run: str) -> dict[str, float]:
    import pytrec_eval as peer

    with Path(qrels).open() as file:
        judgements = peer.parse_qrel(file)
    with Path(run).open() as file:
        results = peer.parse_run(file)
    names = {"map", "ndcg", "ndcg_cut.10", "recip_rank", "P.10", "recall.1000", "Rprec", "bpref"}
    scores = peer.RelevanceEvaluator(judgements, names).evaluate(results)
    keys = next(iter(scores.values())).keys()
    return {k: sum(s[k] for s in scores.values()) / len(scores) for k in keys}


def ir_measures(qrels: str, run: str) -> dict[str, float]:
    import ir_measures as peer

    names = ("AP", "nDCG", "nDCG@10", "RR", "P@10", "R@1000", "Rprec", "Bpref")
    wanted = [peer.parse_measure(name) for name in names]
    scores = peer.calc_aggregate(wanted, peer.read_trec_qrels(qrels), peer.read_trec_run(run))
    return {str(m): v for m, v in scores.items()}


def ranx(qrels: str, run: str) -> dict[str, float]:
    import ranx as peer

    # ranx has no bpref: it does a little less than the others.
    names = ["map", "ndcg", "ndcg@10", "mrr", "precision@10", "recall@1000", "r-precision"]
    judgements = peer.Qrels.from_file(qrels, kind="trec")
    results = peer.Run.from_file(run, kind="trec")
    scores: dict[str, float] = peer.evaluate(judgements, results, names)
    return scores


if __name__ == "__main__":
    peer_name, qrels_path, run_path = sys.argv[1:]
    for name, value in globals()[peer_name](qrels_path, run_path).items():
        print(f"{name}\t{value:.4f}")
