"""A campaign site from a program: submit, look after runs, read scores; nothing to install.

>>> from cranfield.client import Client
>>> Client("https://campaign.example.org/birds-2027", token="cf_...")
Client('https://campaign.example.org/birds-2027')
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from cranfield.answers import load
from cranfield.campaign.collections import SiteReport, site_report
from cranfield.errors import InputError, Problem, UsageError, os_message
from cranfield.evaluation.scores import Scores
from cranfield.io.files import inner_suffix, is_file, read_text, run_name

TOKEN = "CRANFIELD_TOKEN"
SECONDS = 600.0
ATTEMPTS = 3


class Client:
    """One campaign of a site, at an address such as https://host/campaign.

    The token of the team is `token`, or what the environment has in CRANFIELD_TOKEN; scores that
    are released need none. What the site refuses is a UsageError with its words.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        self.address = address.rstrip("/")
        self._token = token or os.environ.get(TOKEN, "")
        _, self._campaign = open_connection(address)

    def __repr__(self) -> str:
        return f"Client({self.address!r})"

    def campaign(self) -> dict[str, Any]:
        """The campaign: its title, state, dates (milliseconds since 1970) and tasks."""
        return self._read(f"/campaigns/{quote(self._campaign)}")

    def check(self, run: str | Path, task: str, **about: Any) -> SiteReport:
        """Check a run as the site does; nothing is stored. `about` is that of `submit`."""
        return self.submit(run, task, check=True, **about)

    def submit(self, run: str | Path, task: str, **about: Any) -> SiteReport:
        """Send a run; gives its receipt.

        `about` has `conf`, `about`, `tag`, `features`, `classifier`, `threshold` and `replace`. A
        run that is not accepted raises an InputError with its problems; nothing of it counts.
        """
        return submit_run(run, to=self.address, task=task, token=self._token, **about)

    def status(self, task: str) -> list[dict[str, Any]]:
        """The receipts of the team's runs, with the state of each, the newest first."""
        runs: list[dict[str, Any]] = self._read(f"{self._task(task)}/runs")["runs"]
        return runs

    def withdraw(self, task: str, tag: str) -> None:
        """Withdraw a run while the campaign is open."""
        self._request("DELETE", f"{self._task(task)}/runs/{quote(tag)}")

    def scores(self, task: str) -> Scores:
        """The released scores of a task, with their values by topic, item or concept."""
        content = self._request("GET", f"{self._task(task)}/scores?format=saved")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "scores.json")
            path.write_bytes(content)
            scores = load(path)
        if not isinstance(scores, Scores):
            raise UsageError(f"{self.address} has no scores of {task}")
        return scores

    def _task(self, task: str) -> str:
        return f"/tasks/{quote(f'{self._campaign}.{task}')}"

    def _read(self, path: str) -> dict[str, Any]:
        return read_answer(self._request("GET", path))

    def _request(self, method: str, path: str) -> bytes:
        """What an address answers, or a UsageError with what the site says."""
        connection, _ = open_connection(self.address)
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        try:
            connection.request(method, f"/api/v1{path}", None, headers)
            answer = connection.getresponse()
            content = answer.read()
        except (HTTPException, OSError) as error:
            why = os_message(error) if isinstance(error, OSError) else str(error)
            raise UsageError(f"{connection.host}: {why}") from None
        finally:
            connection.close()
        if answer.status >= 300:
            detail = read_answer(content).get("detail", answer.status)
            raise UsageError(f"{self.address}: {detail} ({answer.status})")
        return content


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
