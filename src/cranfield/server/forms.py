"""Forms that lose nothing: what is wrong stands beside its field, and what cannot be undone asks.

A form that needs the password again, or a plain yes, comes back as a page with all that was typed
in hidden fields; a file that came with it waits in the folder of uploads for a while.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from cranfield.errors import CranfieldError, UsageError
from cranfield.server.auth import CSRF_FIELD
from cranfield.server.context import SECOND, hash_of
from cranfield.server.http import context_of, form_of, hasher_of, identity_of, render_page, text_of
from cranfield.server.services import accounts
from cranfield.server.services.uploads import TooLargeError

if TYPE_CHECKING:
    from pathlib import Path

    from cranfield.server.auth import Identity
    from cranfield.server.context import Context

SURE, PASSWORD, WAITING = "sure", "password_again", "waiting_file"
# How the fields of a form are called that waits for a log-in.
TYPED = "typed."
# What a question adds to a form, which is not carried on.
_OWN = frozenset({CSRF_FIELD, SURE, PASSWORD, WAITING})
# How long a file waits for a password, in seconds.
WAITS = 3600.0
BLOCK = 1 << 20


def sentence(text: str) -> str:
    """A message of the library as a sentence of a page."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


@dataclass
class Fields:
    """What is wrong with a form, by the field that it is about; "" is the whole form."""

    errors: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def beside(self, name: str) -> Iterator[None]:
        """Whatever is refused inside is said beside this field; the first refusal counts."""
        try:
            yield
        except CranfieldError as error:
            self.errors.setdefault(name, sentence(str(error)))


# ---- questions


@dataclass(frozen=True)
class Question:
    """Something that cannot be undone: what will happen, the answers, and the way back.

    `answers` maps what the form says under `sure` to the words of its button; the first of them
    is the one to recommend. With `password` it also needs the password, unless it was just given.
    """

    title: str
    lines: tuple[str, ...]
    answers: Mapping[str, str]
    back: str
    password: bool = False


def ask_first(request: Request, question: Question) -> Response | None:
    """The page that asks before something is done; None once the answer is there."""
    error: str | None = ""
    if text_of(request, SURE) in question.answers:
        if not question.password:
            return None
        error = password_error(request)
        if error is None:
            return None
    values = {
        "question": question,
        "needs_password": question.password and not is_confirmed(request),
        "carried": form_texts(form_of(request)),
        "error": error,
    }
    return render_page(request, "sure.html", 400 if error else 200, **values)


def is_confirmed(request: Request) -> bool:
    """Whether the visitor has entered the password again a short while ago."""
    context = context_of(request)
    lasts = context.settings.confirmed_seconds * SECOND
    return identity_of(request).confirmed + lasts >= context.clock.now()


def password_error(request: Request) -> str | None:
    """None if the password was entered again, now or just before; else what is wrong with it."""
    if is_confirmed(request):
        return None
    password = text_of(request, PASSWORD)
    if not password:
        return ""
    try:
        accounts.confirm(
            context_of(request), hasher_of(request), identity_of(request).cookie, password
        )
    except UsageError as error:
        return sentence(str(error))
    return None


def form_texts(form: Mapping[str, object]) -> list[tuple[str, str]]:
    """The texts of a form, to be sent again with an answer."""
    pairs = form.multi_items() if isinstance(form, FormData) else form.items()
    return [(name, value) for name, value in pairs if name not in _OWN and isinstance(value, str)]


def uploaded_file(request: Request) -> UploadFile | None:
    """The file of a form, or None; a TooLargeError if it was too long to be read."""
    if getattr(request.state, "is_too_large", False):
        raise TooLargeError(context_of(request).settings.limits.upload_bytes)
    file = form_of(request).get("file")
    return file if isinstance(file, UploadFile) and file.filename else None


# ---- a form whose session has ended


def resume_page(request: Request, status: int) -> Response:
    """Says that nothing was done; what was typed can be sent again after the next log-in.

    It is shown and sent by a button of its own, never by itself.
    """
    texts: list[tuple[str, str]] = request.state.resumed
    if status == 401:
        values = {"resumed": texts, "resume": request.url.path, "has_ended": True}
        return render_page(request, "login.html", status, next="", error="", **values)
    return render_page(request, "resume.html", status, resumed=texts, resume=request.url.path)


def resumed_texts(request: Request) -> list[tuple[str, str]]:
    """The texts that a log-in carries along for the form that waits for it."""
    pairs = form_texts(form_of(request))
    return [(name.removeprefix(TYPED), text) for name, text in pairs if name.startswith(TYPED)]


# ---- a password that is asked for when a form is there already


def unlock(request: Request) -> bool:
    """Whether a form that needs the password again has it; else all of it is kept for the page
    that asks for the password."""
    error = password_error(request)
    context, identity = context_of(request), identity_of(request)
    form = form_of(request)
    waiting = text_of(request, WAITING)
    if error is None:
        request.state.form = _with_file(context, identity, form, waiting)
        return True
    request.state.carried = form_texts(form)
    request.state.waiting = _store_file(context, identity, form) or waiting
    request.state.password_error = error
    return False


def password_page(request: Request) -> Response:
    """Asks for the password; the form goes on to where it was sent."""
    state = request.state
    error = state.password_error
    values = {"carried": state.carried, "waiting": state.waiting, "error": error}
    return render_page(request, "password.html", 400 if error else 200, **values)


def _folder_name(identity: Identity, name: str) -> str:
    """A file waits for the session that sent it, and for no other."""
    return f"waiting-{hash_of(identity.cookie)[:32]}-{name}"


def _store_file(context: Context, identity: Identity, form: Mapping[str, object]) -> str:
    """Put the file of a form aside; gives the name to ask for it by, or nothing without a file."""
    sent = form.get("file")
    if not isinstance(sent, UploadFile) or not sent.filename:
        return ""
    _clear(context.settings.incoming)
    new = context.new_id()
    folder = context.settings.incoming / _folder_name(identity, new)
    folder.mkdir(mode=0o700)
    (folder / "name").write_text(sent.filename, encoding="utf-8", errors="replace")
    with (folder / "content").open("xb") as stream:
        while block := sent.file.read(BLOCK):
            stream.write(block)
    return new


def _with_file(
    context: Context, identity: Identity, form: Mapping[str, object], waiting: str
) -> Mapping[str, object]:
    """The form with the file that waited for it."""
    folder = context.settings.incoming / _folder_name(identity, waiting)
    if not waiting.isalnum() or not folder.is_dir() or not isinstance(form, FormData):
        return form
    name = (folder / "name").read_text(encoding="utf-8")
    stream = (folder / "content").open("rb")
    shutil.rmtree(folder, ignore_errors=True)
    pairs = [(key, value) for key, value in form.multi_items() if key != "file"]
    return FormData([*pairs, ("file", UploadFile(stream, filename=name))])


def _clear(incoming: Path) -> None:
    """Remove files that were not asked for in time."""
    for folder in incoming.glob("waiting-*"):
        if folder.stat().st_mtime < time.time() - WAITS:
            shutil.rmtree(folder, ignore_errors=True)
