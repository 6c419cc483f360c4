"""Submitting a run to a site from a program: one request, with nothing to install."""

from __future__ import annotations

import json
import os
import secrets
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from cranfield.campaign.collections import SiteReport, site_report
from cranfield.errors import InputError, Problem, UsageError, os_message
from cranfield.io.files import inner_suffix, is_file, read_text, run_name

TOKEN = "CRANFIELD_TOKEN"
SECONDS = 600.0
ATTEMPTS = 3


def submit_run(
    run: str | Path,
    *,
    to: str,
    task: str,
    conf: str = "",
    about: str = "",
    tag: str | None = None,
    features: str = "",
    classifier: str = "",
    threshold: str = "",
    replace: bool = False,
    check: bool = False,
    token: str | None = None,
) -> SiteReport:
    """Send a run to the campaign at an address such as https://host/campaign; gives the receipt.

    The token of the team is `token`, or what the environment has in CRANFIELD_TOKEN. A run that is
    not accepted raises an InputError with its problems; nothing of it counts.
    """
    path = Path(run)
    secret = token or os.environ.get(TOKEN, "")
    if not secret:
        raise UsageError(f"the token of your team is expected in the environment as {TOKEN}")
    if not path.is_file():
        raise InputError.single(str(path), "no such file")
    parameters = {
        "conf": conf,
        "about": about,
        "features": features,
        "classifier": classifier,
        "threshold": _threshold(threshold),
        "ending": inner_suffix(path),
        "replace": "true" if replace else "",
    }
    query = urlencode({name: value for name, value in parameters.items() if value})
    connection, campaign = open_connection(to)
    task_path = f"/api/v1/tasks/{quote(f'{campaign}.{task}')}"
    name = tag or run_name(path)
    target = f"{task_path}/check?{query}" if check else f"{task_path}/runs/{quote(name)}?{query}"
    status, answer = _send(connection, "POST" if check else "PUT", target, path, secret)
    if status == 422 and "problems" in answer:
        problems = [Problem(entry["line"], entry["message"]) for entry in answer["problems"]]
        raise InputError(str(path), problems, answer["count"])
    if status >= 300:
        raise UsageError(f"{to}: {answer.get('detail', status)} ({status})")
    title = f"{path.name} would be accepted" if check else f"{path.name} was accepted"
    return site_report("check" if check else "submit", title, answer)


def _threshold(threshold: str) -> str:
    """A threshold as it is sent: a file of thresholds goes along as its lines."""
    file = Path(threshold) if threshold and not threshold.replace(".", "").isdecimal() else None
    return read_text(file) if file is not None and is_file(file) else threshold


def open_connection(address: str) -> tuple[HTTPConnection, str]:
    parts = urlsplit(address)
    campaign = parts.path.strip("/").partition("/")[0]
    if parts.scheme not in ("http", "https") or not parts.hostname or not campaign:
        raise UsageError(f"to={address!r} is not the address of a campaign, https://host/campaign")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname, parts.port, timeout=SECONDS), campaign


def _send(
    connection: HTTPConnection, method: str, target: str, path: Path, secret: str
) -> tuple[int, dict[str, Any]]:
    """One request; one that was cut off is sent again under the same key, so it counts once."""
    headers = {
        "Authorization": f"Bearer {secret}",
        "Content-Type": "application/octet-stream",
        "Content-Length": str(path.stat().st_size),
        "Idempotency-Key": secrets.token_hex(16),
    }
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with path.open("rb") as stream:
                connection.request(method, target, stream, headers)
                answer = connection.getresponse()
                text = answer.read()
            return answer.status, read_answer(text)
        except (HTTPException, OSError) as error:
            if attempt == ATTEMPTS:
                why = os_message(error) if isinstance(error, OSError) else str(error)
                raise UsageError(f"{connection.host}: {why}") from None
        finally:
            connection.close()
    raise RuntimeError("unreachable")


def read_answer(text: bytes) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    return content if isinstance(content, dict) else {"detail": text[:200].decode(errors="replace")}
