"""Connections by hand: heads without end or host, silence; and links of the site's own address."""

import re
import socket
import threading

import pytest

from cranfield.cli.site_serve import make_parser
from cranfield.errors import UsageError
from cranfield.server import Settings
from cranfield.server.protocol import MOST_HEAD, NO_HOST, TOO_LONG, BoundedHeads
from cranfield.server.runserver import run
from tests.server.world import PATIENCE

MOMENT = 0.05


def connected(site):
    host, _, port = site.address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def everything(line):
    """All that comes until the server ends the connection."""
    pieces = []
    while True:
        try:
            piece = line.recv(65536)
        except ConnectionResetError:
            break
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces).decode()


def answer(site, text):
    with connected(site) as line:
        line.sendall(text.encode())
        return everything(line)


@pytest.mark.parametrize(
    "head",
    [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    ],
)
def test_a_request_names_its_host_once(site, head):
    text = answer(site, head)
    assert text.startswith("HTTP/1.1 400 ")
    assert NO_HOST in text


def test_a_request_that_names_its_host_is_answered(site):
    text = answer(site, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert text.startswith("HTTP/1.1 200 ")


@pytest.mark.parametrize("what", ["address", "header", "headers"])
def test_a_head_above_64_kb_is_refused_also_in_one_piece(site, what):
    long = "x" * (MOST_HEAD + 1)
    heads = {
        "address": f"GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n",
        "header": f"GET / HTTP/1.1\r\nHost: x\r\nX-Long: {long}\r\n\r\n",
        "headers": "GET / HTTP/1.1\r\nHost: x\r\n"
        + "".join(f"X-{k}: {'x' * 100}\r\n" for k in range(MOST_HEAD // 100 + 1))
        + "\r\n",
    }
    text = answer(site, heads[what])
    assert text.startswith("HTTP/1.1 400 ")
    assert TOO_LONG in text


@pytest.mark.parametrize(
    "beginning",
    [
        "",
        "GET /healthz HTTP/1.1\r\nHost: x\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n\r\n",
        "PUT /api/v1/tasks/ranked/runs/r1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"
        "Authorization: Bearer {token}\r\n\r\nhalf",
    ],
    ids=["nothing", "half a head", "an empty line after an answer", "half a body"],
)
def test_a_silent_connection_ends(site, monkeypatch, beginning):
    monkeypatch.setattr(BoundedHeads, "head_seconds", MOMENT)
    monkeypatch.setattr(BoundedHeads, "pause_seconds", MOMENT)
    token = site.add_token(site.ann, site.one)
    # Ends by itself, or the socket gives up after a minute.
    text = answer(site, beginning.replace("{token}", token))
    assert "HTTP/1.1 201" not in text


def test_who_waits_for_an_answer_is_not_cut_off(site, monkeypatch):
    monkeypatch.setattr(BoundedHeads, "head_seconds", MOMENT)
    monkeypatch.setattr(BoundedHeads, "pause_seconds", MOMENT)
    check, asked, go_on = site.app.state.checks.check, threading.Event(), threading.Event()

    def slow(*arguments):
        asked.set()
        assert go_on.wait(PATIENCE)
        return check(*arguments)

    monkeypatch.setattr(site.app.state.checks, "check", slow)
    token = site.add_token(site.ann, site.one)
    with connected(site) as line:
        line.sendall(
            b"POST /api/v1/tasks/ranked/check HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
            b"Connection: close\r\n" + f"Authorization: Bearer {token}\r\n\r\nodd".encode()
        )
        assert asked.wait(PATIENCE)
        # One that came later and says nothing has ended: the time of both is over.
        assert answer(site, "") == ""
        go_on.set()
        assert everything(line).startswith("HTTP/1.1 422 ")


def links(site, host):
    """The links that a lead and an organiser are shown by pages asked for under a host."""
    lead, organiser = site.browser("ann"), site.browser("organiser", site.password)
    said = {"kind": "labels", "slug": "one"}
    assert organiser.fill("/tiny/organise/batches", said).status_code == 303
    for browser in (lead, organiser):
        browser.headers["Host"] = host
    page = "/tiny/organise/batches/one"
    return [
        re.search(r"<code>([^<]*/join/[^<]*)</code>", lead.fill("/tiny/team/invitation").text)[1],
        re.search(
            r"[^\s<>\"]*/tiny/enter/[^\s<>\"]+",
            organiser.fill(f"{page}/people", {"kind": "crowd", "count": "1"}, page=page).text,
        )[0],
    ]


@pytest.mark.parametrize(
    ("told", "begins"),
    [
        ({"address": "https://campaign.example.org/"}, "https://campaign.example.org/tiny/"),
        ({}, "http://127.0.0.1:8000/tiny/"),
        ({"host": "::1", "port": 81}, "http://[::1]:81/tiny/"),
        ({"host": "0.0.0.0"}, "/tiny/"),
    ],
)
def test_links_begin_with_the_address_of_the_site_whatever_host_is_asked(site, told, begins):
    for name, value in told.items():
        object.__setattr__(site.settings, name, value)
    for link in links(site, "evil.example.net"):
        assert link.startswith(begins), link


def test_behind_a_proxy_only_the_configured_address_is_known(tmp_path):
    assert Settings(tmp_path, proxy="127.0.0.1").public_address == ""
    known = Settings(tmp_path, proxy="127.0.0.1", address="https://campaign.example.org")
    assert known.public_address == "https://campaign.example.org"


@pytest.mark.parametrize(
    "odd", ["campaign.example.org", "ftp://x", "https://", "https://x/a?b", "https://u:p@x"]
)
def test_an_address_is_the_beginning_of_links(tmp_path, odd):
    with pytest.raises(UsageError, match="is not the beginning of links"):
        run(Settings(tmp_path / "site", address=odd))
    assert not (tmp_path / "site").exists()


def test_the_command_takes_the_address():
    given, _ = make_parser().read(["site", "--address", "https://campaign.example.org"])
    assert given["address"] == "https://campaign.example.org"
