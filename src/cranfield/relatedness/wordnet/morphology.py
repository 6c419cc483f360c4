"""Base forms of English words by WordNet's rules of detachment and its lists of exceptions."""

from __future__ import annotations

from itertools import product

PARTS = "nvar"

# (ending, what replaces it, what must stand before the ending)
_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}

Exceptions = dict[str, dict[str, list[str]]]


def read_exceptions(texts: dict[str, str]) -> Exceptions:
    """Irregular forms: part of speech -> form -> base forms."""
    exceptions: Exceptions = {part: {} for part in PARTS}
    for part, text in texts.items():
        for form, *bases in filter(None, map(str.split, text.splitlines())):
            exceptions[part].setdefault(form, []).extend(bases)
    return exceptions


def base_forms(word: str, part: str, exceptions: Exceptions) -> list[str]:
    """The forms under which a word may be listed, itself first; nothing is looked up."""
    irregular = exceptions[part].get(word)
    if irregular is not None:
        return [word, *irregular]
    tokens = word.split("_")
    if len(tokens) == 1:
        return _detach(word, part)
    choices = [base_forms(token, part, exceptions) for token in tokens]
    # The first token varies fastest.
    return ["_".join(reversed(combination)) for combination in product(*reversed(choices))]


def _detach(word: str, part: str) -> list[str]:
    forms = [word]
    for ending, replacement in _RULES[part]:
        # An ending is taken off only if something is left before it.
        if word.endswith(ending) and len(word) > len(ending):
            forms.append(word[: -len(ending)] + replacement)
    # Of equal forms the last one stays, which decides the order of the look-up.
    return [form for i, form in enumerate(forms) if form not in forms[i + 1 :]]
