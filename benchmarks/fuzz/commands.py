"""What the commands are called with, and which of their options take a file.

In a template {kind} is a file or folder of that kind, {out} a file to be written with any ending,
{out.svg} one with that ending, {folder} a folder to be written; what stands in [brackets] may be
left out.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from functools import cache

from cranfield.cli import COMMANDS, find_command, parser_of

KNOWN = (
    "[--ontology {ontology}] [--rules {rules}] [--costmap {costmap}] [--agreement {agreementmap}] "
    "[--concepts {concepts}] [--threshold {threshold}]"
)
POWERED = "--gold {qrels} --silver {qrels}"
POWERED_LABELS = "--gold {truth} --silver {truth}"
TO_FILE = "[-o {out}]"
STUDY = f"[--folder {{folder}}] {TO_FILE}"
TASK_OF_SITE = "[--db sqlite:///{database}]"

RANKED = [
    "eval {qrels} {run} {run} -m 'AP nDCG@10 P@5 bpref ERR RBP'",
    "eval {qrels} {run} -m 'trec image smart' --collection-size 50 --per-topic --format json",
    "eval {qrels} {run} -m all --collection-size 50 --ties average -o {out}",
    "eval {qrels} {run} --min-score 50% --topics run",
    "eval {qrels} {run} --max-items 3 --missing average --format csv [--gmt 3]",
    "eval {qrels} {run} --format html [--pictures {pictures}] -o {out}",
    "eval {qrels} {run} --fail-under AP=0.1 [--junit {out}] [--summary {out}]",
    "eval {qrels} {run} {run} -m AP --by {topicgroups} [--design {design}] --format json",
    "eval {strata} {run} -m xinfAP",
    "eval {diversity} {run} -m 'alpha_nDCG@5 ERR_IA@5'",
    f"eval {POWERED} {{run}} -m AP [--width 0.1] {TO_FILE}",
    f"eval {{collection}} {{run}} {TO_FILE}",
    "eval {collection}",
    "errors {qrels} {run} {run} -m AP [--count 2]",
    "compare {qrels} {run} {run} -m AP --resamples 50 --format json",
    "compare {qrels} {run} {run} --resamples 50 [--equivalence 0.1] [--detect 0.1 --power 0.8]",
    "compare {qrels} {run} {run} --resamples 50 --test tukey [--alpha 0.1]",
    "compare {qrels} {run} {run} -m AP --resamples 50 --design {design} --correct measures",
    "compare {qrels} {run} {run} --resamples 50 --format html --pictures {pictures} -o {out.html}",
    "compare {qrels} base={run} {run} --resamples 50 --fail-if-worse 0.9 --baseline base "
    "[--junit {out}] [--summary {out}]",
    f"compare {POWERED} {{run}} {{run}} -m AP --resamples 50",
    "compare {scores} {scores} --resamples 50",
    "campaign results {meanscores} --no-compare",
    f"compare {{collection}} -m AP --resamples 50 {TO_FILE}",
    "judges {qrels} {qrels} --runs {run} {run} -m AP --resamples 50 [--families {families}]",
    "judges --annotation {truth} {truth} --runs {labels} {labels} --resamples 50",
    "pool {run} {run} --depth 2 [--judged {qrels}] [--next 3]",
    "pool {collection}",
    "index-quality {vectors} {qrels} {run} -m AP",
    "index-quality {npy} {qrels} -m AP --items {items}",
    "displacement {subjects} {run} --collection-size 50",
    "displacement {collection}",
    "uncertain {votes} {tree} {itemrun} -k 3 [--queries {queries}]",
    "uncertain {collection} {itemrun} -k 3",
    "trec_eval {plainqrels} {plainrun}",
    "trec_eval -q -m all_trec {plainqrels} {plainrun}",
    "trec_eval -m ndcg_cut.3,5 -l 2 -M 5 -J {plainqrels} {plainrun}",
    "fuse {run} {run} [--method rrf] [-k 5]",
    "fuse {run} {run} --weights 1,2 --format json",
    "fuse {run} {run} --tune {qrels} --folds 2 -m AP",
    "fuse --labels {labels} {labels} -o {out.csv}",
    "calibrate {truth} {labels} [--method platt] [--per concept] --folds 2 -o {out.csv}",
    "calibrate {truth} {labels} --method temperature --on {someitems} -o {out.csv}",
    "measures nDCG@10",
    "descriptors CEDD",
    "demo --copy {folder}",
]
CHARTED = [
    "chart leaderboard {qrels} {run} {run} -m AP -o {out.svg}",
    "chart significance {qrels} {run} {run} -m AP -o {out.json}",
    "chart precision-recall {qrels} {run} -o {out.pdf} [--width 300] [--height 200]",
    "chart operating {qrels} {run} --collection-size 50 [--min-score 3] -o {out.png}",
    "chart gain {qrels} {run} [--against recall] -o {out.svg}",
    "chart generality {qrels} {run} --collection-size 50 [--scope 2] -o {out.svg}",
    "chart joint {qrels} {run} [--cutoff 3] -o {out.svg}",
    "chart placements -m 'AP RR' [--sizes 10,20] -o {out.svg}",
    "chart behaviour -m 'AP RR' [--relevant 2] [--collection-size 30] -o {out.svg}",
    "chart roc --truth {truth} {labels} -o {out.svg}",
    "chart reliability --truth {truth} {labels} [--bins 5] -o {out.svg}",
    f"chart concepts --truth {{truth}} {{labels}} {{labels}} {KNOWN} -m F.concept -o {{out.svg}}",
    "chart heatmap {collection} --truth {truth} {labels} -m F.example -o {out.svg}",
]
ANNOTATED = [
    f"label {{truth}} {{labels}} {KNOWN} -m 'F.example AP.concept' {TO_FILE}",
    "label {truth} {labels} -m 'F.example OS AP.concept' --ontology {ontology} [--rules {rules}]",
    "label {truth} {labels} --costmap {costmap} [--agreement {agreementmap}] -m OS --per-item",
    "label {truth} {labels} --concepts {concepts} --threshold {threshold} --format json -o {out}",
    "label {truth} {bare} --concepts {concepts}",
    "label {truth} {labels} -m F.example --format html --pictures {pictures} -o {out.html}",
    "label {truth} {labels} --explain i1.jpg -m F.example",
    "label {truth} {labels} --scores any -m AP.concept",
    "label {truth} {labels} --tune-threshold F.concept --on {someitems} [--tune-per concept]",
    "label {truth} {labels} -m F.example --fail-under F.example=0.1 [--junit {out}] "
    "[--summary {out}]",
    "label {truth} {softlabels} -m F.example",
    "label {truth} {labels} {labels} -m F.example --by {itemgroups} [--design {itemdesign}]",
    f"label {POWERED_LABELS} {{labels}} -m F.example",
    "label {collection}",
    f"compare --truth {{truth}} {{labels}} {{labels}} {KNOWN} -m F.example --resamples 50",
    "compare --truth {truth} {labels} {labels} -m F.concept --resamples 50 --units both",
    f"compare {POWERED_LABELS} {{labels}} {{labels}} -m F.example --resamples 50 --truth {{truth}}",
    f"errors --truth {{truth}} {{labels}} {{labels}} {KNOWN} -m AP.concept",
    "errors {collection} --kind labels",
    "query {conceptqueries} {labels} [--reading probability] [-k 3]",
    "query {keywordqueries} {labels} --reading overlap [--min-terms 1]",
    "query {conceptqueries} {truth} --judgements {out.txt}",
    "annotate --train {vectors} {truth} --apply {vectors} --method neighbours --neighbours 2 "
    "-o {out.csv} [--threshold concept --thresholds {out.csv}]",
    "annotate --train {vectors} {truth} --apply {vectors} --method prior --after rules "
    "--ontology {ontology} --rules {rules} -o {out.npz}",
    "annotate --train {vectors} {truth} --apply {vectors} --method logistic -o {out.csv}",
]
REGIONS = [
    "eval regions {regions} {detections} {detections} --per-concept [--per-item] --format json "
    "[-o {out}]",
    "eval regions {regions} {detections} -m HF.region [--costmap {costmap}]",
    "eval regions {regions} {detections} -m HF.region --ontology {ontology}",
    "eval regions {regions} {detections} -m 'coco voc' --draws 20 --errors 0.3 --format csv",
    "eval regions {regions} {detections} --fail-under AP.region=0.1 [--junit {out}] "
    "[--summary {out}]",
    "eval regions {regions} {detections} -m AP.region --format html [--pictures {pictures}] "
    "-o {out.html}",
    "compare --truth {regions} {detections} {detections} -m AP.region --resamples 50 "
    "[--costmap {costmap}] --format json",
    "eval regions {regionrows} {detectionrows} {detectionrows} -m AP.region --format json",
    "eval regions {vocboxes} {detectionrows} -m voc [--errors 0.1]",
    "eval regions {yoloboxes} {yolorun} --per-item --format json",
    "eval regions {openimages} {openrows} {openrows} -m 'coco voc' --format json",
    "eval regions {maskedregions} {maskedruns} {maskedruns} -m 'segm coco' [--per-item] "
    "--format json",
    "eval regions {maskedregions} {maskedruns} -m \"AP.region(shape='mask')\" --format html "
    "-o {out.html}",
    "convert --kind regions {vocboxes} {out.json}",
    "convert --kind regions {yoloboxes} {out.csv}",
    "convert --kind regions {openimages} {out.csv}",
    "convert --kind regions {regions} {out.json}",
    "convert --kind regions {detections} {out.csv}",
    "form make {ontology} --items {items} --marks boxes -o {out.html}",
    "form make {ontology} --items {items} --suggestions {labels} -o {out.html}",
    "form make {ontology} --recordings {recordings} --marks segments -o {out.html}",
    "truth regions {drawnregions} --resamples 20 [--consensus {out.json}]",
]
PEOPLE = [
    "agreement {log} --resamples 20 --intervals [--design {itemdesign}] --format json",
    "agreement {log} --groups {groups} --resamples 20 [--map {out.csv}]",
    "agreement {log} --quality --gold {gold} [--clean {out.csv}]",
    "agreement {log} --resamples 20 --rules {rules} [--ontology {ontology}]",
    "agreement {catlog} --resamples 20",
    "agreement {collection} --resamples 20",
    "agreement {log} --systems {labels} {labels} {labels} --resamples 20 "
    "[--costmap {costmap}] [--agreement {agreementmap}]",
    "aggregate {log} --method dawid-skene --gold {gold} [--decisions {gold}] -o {out}",
    "aggregate {log} --method weighted-majority --weights {weights}",
    "aggregate {log} --method one-coin --ontology {ontology} --rules {rules}",
    "aggregate {catlog} --method majority [--annotators {out.csv}]",
    "aggregate {catlog} --method mace [--confusion {out.csv}]",
    "aggregate {collection} --method majority",
    "groups {grouped} [--level 0.3]",
    "form make {ontology} --items {items} [--rules {rules}] [--pictures {pictures}] "
    "[--meanings {meanings}] [--guidelines {guidelines}] -o {out.html}",
    "form make {skos} --items {items} --known {placed} --below Place -o {out.html}",
    "form make {collection} -o {out.html}",
    "form make {ontology} --pool {cells} -o {out.html}",
    "form crowd {ontology} --address https://pictures.example/x --items {items} [--rules {rules}] "
    "[--pictures {pictures}] [--guidelines {guidelines}] -o {folder}",
    "form crowd {collection} --address https://pictures.example/x -o {folder}",
    "form pay {crowdforms} [--ontology {ontology}] [--rules {rules}] [--gold {crowdgold}] "
    "-o {out.csv}",
    "form read {answers} [--ontology {ontology}] [--rules {rules}] [--classes {classes}]",
    "survey measures --questions 2 --lists 2 --relevant 2 --size 6 -o {folder}",
    "survey preference {truth} {labels} {labels} [--ontology {ontology}] [--rules {rules}] "
    "[--costmap {costmap}] -m F.example --questions 2 [--pictures {pictures}] -o {folder}",
    "survey preference {truth} {labels} {labels} -m F.example --questions 2 "
    "--collection {collection} -o {folder}",
    "survey relatedness {pairs} [--attention 1] -o {folder}",
    "survey categories {tree} --items {items} [--pictures {pictures}] -o {folder}",
    "survey categories {tree} --collection {collection} -o {folder}",
    "survey rankings {run} {run} --depth 2 [--pictures {pictures}] -o {folder}",
    "survey rankings {run} --collection {collection} -o {folder}",
    "survey association {vectors} --pairs 2 --near 2 [--pictures {pictures}] -o {folder}",
    "survey association {vectors} --pairs 2 --near 2 --collection {collection} -o {folder}",
    "survey grouping --items {items} [--pictures {pictures}] [--first 3] -o {folder}",
    "survey grouping --collection {collection} [--first 3] -o {folder}",
    "survey tagging --items {items} [--pictures {pictures}] [--first 3] -o {folder}",
    "survey tagging --collection {collection} -o {folder}",
    "survey search {labels} {searchtasks} [--pictures {pictures}] [--collection {collection}] "
    "-o {folder}",
    "survey hierarchy {ontology} [--first 4] -o {folder}",
    "survey count {surveykey} {surveyanswers} [--each]",
]
PICTURED = [
    "weaklabel {features} {tags} [--truth {tags}] --method median [--kept {out.csv}]",
    "weaklabel {pictures} {picturetags} --method median -d CEDD",
    "describe {pictures} -d 'CEDD EHD' [--tags {corpus}] [--exif] -o {folder}",
    "describe {picturelist} -d ColorHistogram -o {folder}",
    "describe {pictures} -d 'EHD SpCD BTDH' --as lire -o {folder}",
    "search {vectors} [-k 3]",
    "search {vectors} --queries {vectors} --format json",
    "search {vectors} --queries {searchqueries}",
    "search {npy} --items {items} --distance L1",
    "search {vectors} --distance overlap",
    "search {vectors} --distance overlap --min-terms 1 --format json",
    "runs benchmark {pictures} --as mnro-table-5 --qrels {picturejudgements} -d 'SCD CLD' --lire",
    "runs text {corpus} [--language none] [-k 3] [--k1 0] [--b 1] [--keep-query]",
    "runs text {corpus} --queries {searchqueries} --format json",
    "runs feedback {vectors} --pseudo [--depth 2] [-k 3] [--before {out.txt}]",
    "runs feedback {npy} --items {items} --queries {npy} --pseudo [--remaining {out.txt}]",
    "runs feedback {vectors} --queries {searchqueries} --qrels {qrels} --counted whole "
    "--gamma 0 --format json",
    "search {descriptions} --queries {pictures}",
    "search {descriptions} --pictures {pictures} --qrels {qrels} --format html -o {out.html}",
]
CONCEPTS = [
    "ontology check {ontology} [--rules {rules}]",
    "ontology show {ontology} [--rules {rules}]",
    "ontology show {ontology} Sky",
    "ontology convert {ontology} {out.csv} [--rules {rules}] [--rules-to {out.toml}]",
    "ontology convert {ontology} {out.ttl}",
    "ontology categories {ontology} [--rules {rules}]",
    "ontology compare {ontology} {ontology} [--rules {rules} {rules}]",
    "ontology compare {concepts} {waterlist} -m WUP --mapping {mapping}",
    "tags {corpus} --min-items 1 [--vocabulary {ontology}] [--mapping {mapping}] "
    "[--wordnet {wordnet}]",
    "relatedness {pairs} -m NWD --counts {counts}",
    "relatedness --concepts {concepts} -m NWD --tags {corpus} [--save-counts {out.csv}] -o {out}",
    "relatedness {pairs} -m WLM --links {links} [--articles 20]",
    "relatedness --concepts {concepts} -m path --ontology {ontology} -o {out}",
    "relatedness {waters} -m WUP --wordnet {wordnet}",
    "relatedness {pairs} -m WUP --wordnet {wordnet} --mapping {mapping}",
    "relatedness {pairs} -m NWD --provider {provider} --counts {counts}",
    "costmap show {costmap} [--nearest 2]",
    "costmap compare {costmap} {costmap} --permutations 20",
]
STUDIED = [
    f"lab correlate {{qrels}} {{run}} {{run}} {{run}} -m 'AP RR' --resamples 20 {STUDY}",
    f"lab correlate --truth {{truth}} {{labels}} {{labels}} {{labels}} {KNOWN} "
    "-m 'F.example AP.concept' --resamples 20",
    f"lab stability --truth {{truth}} {{labels}} {{labels}} {{labels}} {KNOWN} -m F.example "
    f"--repeats 1 --trials 3 --resamples 10 [--design {{itemdesign}}] {STUDY}",
    f"lab comparable --truth {{truth}} {{labels}} {{labels}} {{labels}} {KNOWN} "
    f"-m AP.concept --folds 2 {STUDY}",
    f"lab random --truth {{truth}} {{labels}} {{labels}} {KNOWN} "
    f"-m F.example --densities 50 {STUDY}",
    f"lab random {{qrels}} {{run}} {{run}} -m AP --count 2 {STUDY}",
    f"lab generality {{qrels}} {{run}} -m AP --collection-size 50 {STUDY}",
    "lab generality --truth {truth} {labels} [--concepts {concepts}] -m AP --shares 80,100",
    f"lab curves -m 'AP RR' --size 5 [--ranks 1,2] {STUDY}",
    f"lab requirements 'F.example OS' --ontology {{ontology}} [--rules {{rules}}] {STUDY}",
    "lab requirements OS --costmap {costmap}",
    f"lab pool {{qrels}} {{run}} {{run}} -m AP --depth 3 {STUDY}",
    "lab pool --truth {truth} {labels} {labels} [--concepts {concepts}] -m AP --depth 3",
    f"lab unjudged {{qrels}} {{run}} {{run}} {{run}} -m AP --depth 3 --trials 2 {STUDY}",
    "lab unjudged --truth {truth} {labels} {labels} {labels} [--concepts {concepts}] "
    "-m AP --depth 3 --trials 2",
    "lab plan {qrels} {run} {run} -m AP --difference 0.1 --simulations 2 --resamples 9 "
    "[--test t] [--judgements-per-topic 20 --seconds 9 --hourly 12] [--judge-correlation 0.7]",
    f"lab plan --truth {{truth}} {{labels}} {{labels}} {KNOWN} -m F.example --difference 0.1 "
    "--simulations 2 --resamples 9 --test t",
    "lab replay {log} [--gold {gold}] --fixed 1 --sure 80 --repeats 1",
    "lab replay {log} --systems {labels} {labels} {labels} --fixed 1 --sure 80 --repeats 1",
    "lab replay {qrels} {run} {run} -m P@2 --replays 1 --batch 2 [--judge {qrels}]",
    "truth pool {run} {run} --for P@2 --next 2 [--ledger {ledger}] [--judge {qrels}]",
    "truth pool {labels} {labels} --labels --for P@2 --next 2",
    "truth next {log} --count 3",
    "lab simulate {qrels} {folder} --count 2",
    "lab simulate {truth} {folder} --labels --count 2",
    "lab votes count {ballots}",
    "lab votes make {folder} --questions 2 --lists 2 --relevant 2 --size 6",
    f"lab votes make {{folder}} --truth {{truth}} --between {{labels}} {{labels}} {KNOWN} "
    "-m F.example --questions 2",
    "lab votes tally {voteskey} {votesanswers}",
]
COLLECTED = [
    "import {exports} -o {out.csv}",
    "convert --kind run {run} {out}",
    "convert --kind qrels {qrels} {out}",
    "convert --kind labels {truth} {out.csv}",
    "convert --kind labels {labels} {out.npz}",
    "convert --kind labels {labels} {out.txt}",
    "convert --kind labels --long {truth} {out.csv}",
    "collection init {rawfolder}",
    "collection check {collection}",
    "collection split {truth} train=0.5 test=0.5 [--groups {itemgroups}] [-o {folder}]",
    "collection split {collection} train=0.8 test=0.2 --method random",
    "check {collection} {run} --kind ranked",
    "check {collection} {labels} --kind labels [--threshold {threshold}]",
    "check {collection} {run} {labels}",
    "report {collection} -o {out.html} [--public]",
    "report {collection} --kind ranked [--pictures {pictures}] -o {out.html}",
    f"report {{collection}} --kind ranked {POWERED} -o {{out.html}}",
    f"publish {{collection}} --kind ranked --resamples 20 {POWERED} -o {{folder}}",
    "publish {collection} --resamples 20 -o {folder} [--release-truth] [--with-runs]",
    "campaign results {collection} --kind ranked --no-compare",
    "campaign results {collection} --kind labels --table best-per-concept --no-compare "
    "[--concepts {concepts}]",
    "campaign results {collection} --kind labels --no-compare --table best-per-item "
    "[--items {items}]",
    "campaign results {collection} --kind ranked --no-compare --table best-per-topic "
    "[--topics {topics}]",
    "campaign results {collection} --kind labels --no-compare --table side-by-side "
    "--set A={concepts} --set B={concepts}",
    "campaign results {figures} --table runs --no-compare",
    "campaign results {figures} --table years --no-compare --year 2025={figures}",
]
SITES = [
    "campaign import {collection} --to {folder} --no-score [--db sqlite:///{out.sqlite}]",
    f"campaign export {{site}} tiny --to {{folder}} {TASK_OF_SITE}",
    f"campaign backup {{site}} --to {{out.zip}} {TASK_OF_SITE}",
    "site restore {backup} --to {folder}",
    f"campaign verify {{site}} {TASK_OF_SITE}",
    f"campaign rescore {{site}} tiny {TASK_OF_SITE}",
    f"campaign clock {{site}} -o {{out.txt}} {TASK_OF_SITE}",
    f"campaign clock {{site}} --accept -o {{out.txt}} {TASK_OF_SITE}",
    "submit {run} --to http://127.0.0.1:9/tiny --task ranked",
    "submit {labels} --to http://127.0.0.1:9/tiny --task labels --threshold {threshold}",
]
WRITTEN = [
    *(RANKED + CHARTED + ANNOTATED + PEOPLE),
    *(PICTURED + CONCEPTS + STUDIED + COLLECTED + SITES + REGIONS),
]

# Options of other texts than names of files; numbers and choices are told by their types.
NO_FILES = {
    *("--measures", "--measure", "--sort", "--title", "--executor", "--baseline", "--run"),
    *("--concept", "--explain", "--tune-threshold", "--descriptors", "--distance", "--method"),
    *("--pair", "--alike", "--below", "--split", "--version", "--configurations", "--teams"),
    *("--show", "--coefficients", "--min-score", "--name", "--to URL", "--task", "--conf"),
    *("--about", "--tag", "--features", "--classifier", "--host", "--behind-proxy"),
    *("name", "concept", "measures", "campaign", "--command", "--form", "--item", "--part"),
    *("--address", "--action", "--for", "--column"),
}
# What is not tried here, and where it is.
ELSEWHERE = {
    "site serve": "tests/server/slow_kills.py: it runs until it is told to end",
    "site restore --db": "tests/server: it is for a site on PostgreSQL",
    "site judge": "tests/server/test_work.py: it asks a site, and takes no file",
    "site passwd": "tests/server/test_passwords.py: it needs an account",
    "site rehearse": "tests/server: a site of its own, minutes",
}


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command, and every step of one, with its parser."""
    for command in COMMANDS:
        parser = parser_of(command)
        if parser is not None:
            yield from _steps(command, parser)


def _steps(
    name: str, parser: argparse.ArgumentParser
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for step, one in action.choices.items():
                yield from _steps(f"{name} {step}", one)
            return
    yield name, parser


@cache
def options_of(words: str) -> frozenset[str]:
    """The options of the command that these words begin with; none where that is unknown."""
    for command, parser in parsers():
        if called(words, command):
            return frozenset(name for a in parser._actions for name in a.option_strings)
    return frozenset()


def takes_file(action: argparse.Action) -> bool:
    """Whether a file's name can be given: any text that is not known to be something else."""
    if action.nargs == 0 or action.choices or action.type not in (None, str):
        return False
    names = {*action.option_strings, action.dest if not action.option_strings else ""}
    names |= {f"{name} {action.metavar}" for name in names}
    return not names & NO_FILES


def words_of(template: str, *, full: bool) -> list[str]:
    """The words of a template, with all that may be left out or nothing of it."""
    return shlex.split(re.sub(r"\[([^]]*)\]", r"\1" if full else "", template))


def called(template: str, command: str) -> bool:
    """Whether a template is of a command, or of a step of one."""
    return f"{full_name(template)} ".startswith(f"{command} ")


def full_name(template: str) -> str:
    """A template with the whole name of its command where it has a shorter or an earlier one."""
    command, words = find_command(template.split(" "))
    return " ".join([command, *words])


@cache
def templates() -> tuple[str, ...]:
    """All templates; where an answer may go to a file, it sometimes does."""
    filed = [
        name
        for name, parser in parsers()
        if any("-o" in action.option_strings for action in parser._actions)
    ]
    return tuple(
        f"{one} [-o {{out}}]"
        if "-o {" not in one and any(called(one, command) for command in filed)
        else one
        for one in map(full_name, WRITTEN)
    )


def without_template() -> list[str]:
    """Options and places for files that no template fills."""
    missing: list[str] = []
    for command, parser in parsers():
        if command in ELSEWHERE:
            continue
        length = len(command.split())
        mine = [words_of(one, full=True)[length:] for one in templates() if called(one, command)]
        missing += [
            f"{command} {'/'.join(action.option_strings) or action.dest}"
            for action in parser._actions
            if takes_file(action) and not any(_filled(parser, action, words) for words in mine)
        ]
    return [name for name in missing if name not in ELSEWHERE]


def _filled(parser: argparse.ArgumentParser, action: argparse.Action, words: list[str]) -> bool:
    if not action.option_strings:
        return "{" in str(vars(parser.parse_args(words)).get(action.dest))
    follow = zip(words, [*words[1:], ""], strict=True)
    return any(word in action.option_strings and "{" in value for word, value in follow)
