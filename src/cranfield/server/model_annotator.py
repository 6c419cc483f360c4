"""A program as an annotator: it reads what is asked on its standard input and answers on its
standard output, a line of JSON for a line of JSON."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import Any

from cranfield.campaign.collections import SiteReport, site_report
from cranfield.client import ATTEMPTS, TOKEN, open_connection, read_answer
from cranfield.errors import UsageError, os_message

WAIT = 0.2
# Seconds that a program has for one answer, and for its end once nothing more is asked.
ANSWER_WITHIN = 600


def judge(
    *,
    to: str,
    command: str,
    token: str | None = None,
    most: int | None = None,
    answer_within: int = ANSWER_WITHIN,
) -> SiteReport:
    """Let a program judge all that the site at an address has for it; gives how much that was.

    `command` is started once. For each unit it gets a line such as `{"item": ..., "text": ...,
    "form": {...}}` and answers `{"answers": {question: [value, ...]}}`, `{"skip": true}` or
    `{"state": "cannot tell"}`, with `"comment"` and `"seconds"` where it likes. What the site
    refuses is skipped with the reason as a comment. At most `most` units are judged. A program that
    has not answered within `answer_within` seconds is ended.
    """
    secret = token or os.environ.get(TOKEN, "")
    if not secret:
        raise UsageError(f"the token of the program is expected in the environment as {TOKEN}")
    if not command.strip():
        raise UsageError("command= names the program that judges")
    if answer_within < 1:
        raise UsageError(f"answer_within={answer_within}: at least 1 second")
    connection, _ = open_connection(to)
    try:
        with _Program(shlex.split(command), answer_within) as program:
            return _judge_all(connection, secret, program, most)
    except (OSError, ValueError) as error:
        why = os_message(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"{command}: {why}") from None
    finally:
        connection.close()


class _Program:
    """The program that judges, with all that it starts; it ends with the block it is used in."""

    def __init__(self, words: list[str], answer_within: int) -> None:
        self._answer_within = answer_within
        # A group of its own, so that what the program has started ends with it.
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> _Program:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._kill()
        process = self._process
        if process.stdin is not None:
            with suppress(OSError):  # its buffer may hold unread text
                process.stdin.close()
        try:
            process.wait(self._answer_within)
        except subprocess.TimeoutExpired:
            self._kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def answer(self, unit: dict[str, Any]) -> dict[str, Any]:
        """One line to the program, one line from it."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self._kill()

        # Killing it ends both the writing to it and the reading from it.
        timer = threading.Timer(self._answer_within, end)
        timer.daemon = True
        timer.start()
        try:
            line = self._exchange(json.dumps(unit, ensure_ascii=False) + "\n")
        finally:
            timer.cancel()
        if late.is_set():
            raise UsageError(
                f"the program has not answered within {self._answer_within} s and was ended"
            )
        if not line:
            raise UsageError("the program ended before it had answered")
        try:
            reply = json.loads(line)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise UsageError(f"the program answered {line[:80]!r}, expected a line of JSON")
        return reply

    def _exchange(self, line: str) -> str:
        if self._process.stdin is None or self._process.stdout is None:
            raise UsageError("the program cannot be spoken with")
        # A program that has ended may have answered before: what it wrote is still to be read.
        with suppress(BrokenPipeError):
            self._process.stdin.write(line)
            self._process.stdin.flush()
        return self._process.stdout.readline()


def _judge_all(
    connection: HTTPConnection, secret: str, program: _Program, max_units: int | None
) -> SiteReport:
    saved = skipped = 0
    refused: list[str] = []
    while max_units is None or saved + skipped < max_units:
        status, unit = _send_request(connection, secret, "GET", "/work/next")
        if status != 200:
            raise UsageError(f"{unit.get('detail', status)} ({status})")
        if unit.get("assignment") is None:
            break
        began = time.monotonic()
        reply = program.answer(unit)
        unit_path = f"/work/{unit['assignment']}"
        if not reply.get("skip"):
            body = {
                "answers": reply.get("answers", {}),
                "state": reply.get("state", "done"),
                "key": f"{unit['assignment']}.1",
                "seconds": reply.get("seconds", time.monotonic() - began),
                "comment": str(reply.get("comment", "")),
            }
            status, answer = _send_request(connection, secret, "PUT", unit_path, body)
            if status == 200:
                saved += 1
                continue
            reason = "; ".join(p["message"] for p in answer.get("problems", ()))
            refused.append(f"{unit['item']}: {reason or answer.get('detail', status)}")
            _send_request(
                connection, secret, "POST", f"{unit_path}/comment", {"text": refused[-1][:2000]}
            )
        body = {"key": f"{unit['assignment']}.skip"}
        status, answer = _send_request(connection, secret, "POST", f"{unit_path}/skip", body)
        if status != 200:  # the same unit would come again, for ever
            raise UsageError(f"{unit['item']}: {answer.get('detail', status)} ({status})")
        skipped += 1
    report = {"judged": saved, "skipped": skipped, "refused": refused[:20]}
    return site_report("judge", f"{saved} judged, {skipped} skipped", report)


def _send_request(
    connection: HTTPConnection, secret: str, method: str, path: str, body: Any = None
) -> tuple[int, dict[str, Any]]:
    """One request; one that was cut off is sent again under its own key, so it counts once."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    for attempt in range(1, ATTEMPTS + 1):
        try:
            connection.request(method, f"/api/v1{path}", data, headers)
            answer = connection.getresponse()
            return answer.status, read_answer(answer.read())
        except (HTTPException, OSError) as error:
            connection.close()
            if attempt == ATTEMPTS:
                why = os_message(error) if isinstance(error, OSError) else str(error)
                raise UsageError(f"{connection.host}: {why}") from None
            time.sleep(WAIT * attempt)
    raise RuntimeError("unreachable")
