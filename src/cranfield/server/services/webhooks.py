"""Webhooks: what happens in a campaign is told to programs, at addresses that the site allows.

A call says what happened and where to look, and nothing of what is sealed. It is signed with a
secret that is shown once where the webhook is made.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import socket
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, urlsplit

from sqlalchemy import Connection, delete, insert, select, update

from cranfield.errors import UsageError
from cranfield.server.context import Context, as_time
from cranfield.server.services import audit, clock, jobs, scoring
from cranfield.server.services.campaigns import Row
from cranfield.server.store.tables import campaign, webhook

EVENTS = {
    "scored": "new scores of a task are put together",
    "released": "the results are out",
}
SIGNATURE = "X-Cranfield-Signature"
SECONDS = 10.0
MOST_WEBHOOKS = 10
KEY = "webhook-key"
PORTS = {"http": 80, "https": 443}
LONGEST_URL = 1000
# What may stand in the line of a request as it is.
_URL = re.compile(r"[!-~]+")


def checked_url(context: Context, text: str) -> str:
    """The address of a webhook, or a UsageError: only machines that the site names are called.

    A machine is called at the usual port, and at another one where the site names that, too: what
    else listens there is not for organisers.
    """
    url = text.strip()
    hosts = context.settings.webhook_hosts
    parts, port = _parts_of(url)
    if parts is None or "@" in parts.netloc or not parts.hostname or len(url) > LONGEST_URL:
        raise UsageError("the address of a webhook is https://host/path")
    if (parts.hostname, port or PORTS[parts.scheme]) not in _allowed(hosts, parts.scheme):
        named = parts.hostname if port is None else f"{parts.hostname}:{port}"
        allowed = ", ".join(hosts) or "none"
        raise UsageError(f"this site calls no program on {named}; it may call: {allowed}")
    return url


def _parts_of(url: str) -> tuple[SplitResult | None, int | None]:
    """The parts of an address and its port; no parts where it is none of HTTP."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None, None
    return (parts if parts.scheme in PORTS and _URL.fullmatch(url) else None), port


def _allowed(hosts: tuple[str, ...], scheme: str) -> set[tuple[str, int]]:
    """The machines and ports that `--webhook-hosts` names, as `host` or `host:port`."""
    machines = set()
    for entry in hosts:
        # A bare address of IPv6 has more colons than one, and no port.
        bare = entry.count(":") > 1 and not entry.startswith("[")
        parts, port = _parts_of(f"{scheme}://[{entry}]" if bare else f"{scheme}://{entry}")
        if parts is not None and parts.hostname:
            machines.add((parts.hostname, port or PORTS[scheme]))
    return machines


def add_webhook(
    connection: Connection, context: Context, actor: str, campaign_row: Row, url: str, events: str
) -> str:
    """A new webhook; gives the secret that its calls are signed with."""
    if len(webhooks_of(connection, campaign_row["id"])) >= MOST_WEBHOOKS:
        raise UsageError(f"a campaign has at most {MOST_WEBHOOKS} webhooks")
    now, new = context.clock.now(), context.new_id()
    values = {"campaign": campaign_row["id"], "url": url, "events": events, "created": now}
    connection.execute(insert(webhook).values(id=new, **values))
    audit.append(connection, now, actor, "webhook.add", campaign_row["slug"], {"url": url})
    if clock.read_setting(connection, KEY) is None:
        clock.write_setting(connection, KEY, context.new_secret())
    return _secret(connection, new)


def remove_webhook(
    connection: Connection, context: Context, actor: str, campaign_row: Row, webhook_id: str
) -> bool:
    condition = (webhook.c.id == webhook_id) & (webhook.c.campaign == campaign_row["id"])
    removed = connection.execute(delete(webhook).where(condition)).rowcount
    if removed:
        now = context.clock.now()
        audit.append(connection, now, actor, "webhook.remove", campaign_row["slug"])
    return bool(removed)


def webhooks_of(connection: Connection, campaign_id: str) -> list[Row]:
    query = select(webhook).where(webhook.c.campaign == campaign_id).order_by(webhook.c.created)
    return [dict(row) for row in connection.execute(query).mappings()]


def tell(
    connection: Connection, context: Context, campaign_id: str, event: str, **facts: str
) -> None:
    """Ask for the calls of an event."""
    slug = connection.execute(
        select(campaign.c.slug).where(campaign.c.id == campaign_id)
    ).scalar_one()
    now = context.clock.now()
    content = {"event": event, "campaign": slug, "at": as_time(now)} | facts
    for row in webhooks_of(connection, campaign_id):
        if event in row["events"].split():
            key = f"webhook:{row['id']}:{context.new_id()}"
            job_input = {"webhook": row["id"], "content": content}
            jobs.request_job(connection, context, "webhook", key, job_input, None)


def _secret(connection: Connection, webhook_id: str) -> str:
    """The secret of a webhook, made from one of the site: it is kept nowhere by itself."""
    key = clock.read_setting(connection, KEY) or ""
    return hmac.new(key.encode(), webhook_id.encode(), hashlib.sha256).hexdigest()


def signature(secret: str, body: bytes) -> str:
    """What the header of a call says of its body."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def call(context: Context, job_input: Row) -> Row:
    """Make one call; redirects are not followed, and what is answered is not read."""
    webhook_id = job_input["webhook"]
    with context.store.read() as connection:
        url = connection.execute(select(webhook.c.url).where(webhook.c.id == webhook_id)).scalar()
        secret = _secret(connection, webhook_id)
    if url is None:
        return {"done": 0}
    checked_url(context, url)
    outcome, again = _post(url, json.dumps(job_input["content"]).encode(), secret)
    now = context.clock.now()
    condition = webhook.c.id == webhook_id
    context.store.write(
        lambda c: c.execute(update(webhook).where(condition).values(outcome=outcome, called=now))
    )
    return {"error": outcome, "again": True} if again else {"done": 1}


def _post(url: str, body: bytes, secret: str) -> tuple[str, bool]:
    """What came of a call, and whether it is to be tried again."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=SECONDS)
    headers = {"Content-Type": "application/json", SIGNATURE: signature(secret, body)}
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    # The limit of a connection is one for each byte; an answer that drips ends, too.
    ending = threading.Timer(SECONDS, _hang_up, (connection,))
    ending.daemon = True
    ending.start()
    try:
        connection.request("POST", target, body, headers)
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return f"not reached: {type(error).__name__}", True
    finally:
        ending.cancel()
        connection.close()
    return f"answered {status}", status >= 500


def _hang_up(connection: HTTPConnection) -> None:
    with suppress(OSError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)


def tell_scored(connection: Connection, context: Context, campaign_id: str, task_slug: str) -> None:
    tell(connection, context, campaign_id, "scored", task=task_slug)


scoring.IN_PROCESS_JOBS["webhook"] = call
scoring.SCORED.append(tell_scored)
