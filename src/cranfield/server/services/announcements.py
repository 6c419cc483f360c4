"""Announcements: what organisers tell everybody, on the overview and in a feed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from xml.etree import ElementTree

from sqlalchemy import Connection, delete, insert, select

from cranfield.server.context import Context, as_time
from cranfield.server.services import audit
from cranfield.server.services.campaigns import Row
from cranfield.server.store.tables import announcement
from cranfield.server.store.tables import audit as audit_table

ATOM = "http://www.w3.org/2005/Atom"
MOST_ENTRIES = 50
# What a move of the campaign tells everybody; the other moves are the organisers' affair.
STATE_TITLES = {
    "open": "Runs are taken",
    "closed": "Runs are no longer taken",
    "released": "The results are out",
    "archived": "The campaign is archived",
}


@dataclass(frozen=True, slots=True)
class Announcement:
    """A title, a text in Markdown and when it was said; one without an id comes from the audit."""

    title: str
    text: str
    at: int
    id: str = ""
    number: int = 0


def announce(
    connection: Connection, context: Context, actor: str, campaign: Row, title: str, text: str
) -> str:
    """Tell everybody something; gives the id of the announcement."""
    new, now = context.new_id(), context.clock.now()
    row = {"id": new, "campaign": campaign["id"], "title": title, "text": text, "at": now}
    connection.execute(insert(announcement).values(row))
    audit.append(connection, now, actor, "campaign.announce", campaign["slug"], {"title": title})
    return new


def withdraw(
    connection: Connection, context: Context, actor: str, campaign: Row, announcement_id: str
) -> bool:
    """Take an announcement back; whether there was one."""
    condition = (announcement.c.id == announcement_id) & (announcement.c.campaign == campaign["id"])
    title = connection.execute(select(announcement.c.title).where(condition)).scalar()
    if title is None:
        return False
    connection.execute(delete(announcement).where(condition))
    now, detail = context.clock.now(), {"title": title}
    audit.append(connection, now, actor, "campaign.unsay", campaign["slug"], detail)
    return True


def announcements_of(connection: Connection, campaign: Row) -> list[Announcement]:
    """What was announced, the newest first."""
    rows = connection.execute(
        select(announcement)
        .where(announcement.c.campaign == campaign["id"])
        .order_by(announcement.c.at.desc(), announcement.c.id)
        .limit(MOST_ENTRIES)
    )
    return [Announcement(row.title, row.text, row.at, row.id) for row in rows]


def news_of(connection: Connection, campaign: Row) -> list[Announcement]:
    """Announcements and the moves that concern everybody, the newest first."""
    rows = connection.execute(
        select(audit_table.c.n, audit_table.c.at, audit_table.c.detail).where(
            audit_table.c.action == "campaign.state", audit_table.c.object == campaign["slug"]
        )
    )
    moves = [
        Announcement(STATE_TITLES[state], "", row.at, number=row.n)
        for row in rows
        if (state := json.loads(row.detail).get("to")) in STATE_TITLES
    ]
    news = [*announcements_of(connection, campaign), *moves]
    return sorted(news, key=lambda entry: -entry.at)[:MOST_ENTRIES]


def atom_feed(campaign: Row, news: list[Announcement], address: str, feed_address: str) -> bytes:
    """The news of a campaign as a feed (RFC 4287), whose texts are Markdown as written."""
    ElementTree.register_namespace("", ATOM)
    feed = ElementTree.Element(f"{{{ATOM}}}feed")
    name = f"urn:cranfield:{campaign['id']}"
    _add(feed, "id", name)
    _add(feed, "title", campaign["title"])
    _add(feed, "updated", as_time(news[0].at if news else campaign["created"]))
    _add(feed, "link", rel="self", href=feed_address)
    _add(feed, "link", href=address)
    author = ElementTree.SubElement(feed, f"{{{ATOM}}}author")
    _add(author, "name", f"The organisers of {campaign['title']}")
    for entry in news:
        element = ElementTree.SubElement(feed, f"{{{ATOM}}}entry")
        _add(element, "id", f"{name}:{entry.id or entry.number}")
        _add(element, "title", entry.title)
        _add(element, "updated", as_time(entry.at))
        _add(element, "link", href=address)
        _add(element, "content", entry.text or entry.title, type="text")
    content: bytes = ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True)
    return content


def _add(parent: ElementTree.Element, tag: str, text: str = "", **attributes: str) -> None:
    element = ElementTree.SubElement(parent, f"{{{ATOM}}}{tag}", attributes)
    # Characters that no XML has.
    element.text = "".join(c for c in text if c >= " " or c in "\n\t") or None
