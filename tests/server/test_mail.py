"""Mail by a real SMTP server on loopback, invitations, contacts, merged teams, webhooks."""

import email
import json
import re
import socket
import socketserver
import ssl
import threading
from contextlib import suppress
from dataclasses import replace
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cranfield.errors import CranfieldError, UsageError
from cranfield.server.services import campaigns, mail, webhooks
from cranfield.server.services.campaigns import by_slug
from cranfield.server.services.webhooks import SIGNATURE, signature
from tests.server.conftest import put
from tests.server.world import DAY, PASSWORD, PATIENCE, at_once, joined, run_text


class Smtp(socketserver.StreamRequestHandler):
    """As much of RFC 5321 as a client needs to hand over a mail."""

    def handle(self):
        self.answer("220 loopback")
        recipients = []
        for line in iter(lambda: self.rfile.readline().decode().strip(), ""):
            verb = line[:4].upper()
            if verb == "RCPT":
                recipients.append(re.search("<(.*)>", line)[1])
            if verb == "DATA":
                self.answer("354 go on")
                text = b""
                while not text.endswith(b"\r\n.\r\n"):
                    text += self.rfile.readline()
                message = email.message_from_bytes(text[:-5], policy=default)
                self.server.mails.append((recipients, message))
                recipients = []
            self.answer("221 bye" if verb == "QUIT" else "250 fine")
            if verb == "QUIT":
                return

    def answer(self, text):
        self.wfile.write(f"{text}\r\n".encode())


@pytest.fixture
def mails():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Smtp) as server:
        server.mails, server.daemon_threads = [], True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(60)


@pytest.fixture
def mailed(site, mails):
    """The site with a server for its mail."""
    smtp = f"smtp://127.0.0.1:{mails.server_address[1]}"
    settings = replace(site.settings, smtp=smtp, mail_from="site@example.org", address=site.address)
    object.__setattr__(site.context, "settings", settings)
    site.mails = mails.mails
    return site


def link_of(message, site):
    return re.search(rf"{re.escape(site.address)}(/\S+)", message.get_content())[1]


def test_an_address_is_verified_used_and_forgotten(mailed):
    ann = mailed.browser("ann")
    wrong = ann.fill("/account/email", {"email": "no address"}, page="/account")
    assert wrong.status_code == 400
    ann.fill("/account/email", {"email": "ann@example.org"}, page="/account")
    anybody = mailed.browser()
    # Not verified: whoever named the address gets nothing there.
    anybody.fill("/forgot", {"login": "ann"})
    mailed.work()
    ((to, message),) = mailed.mails
    assert to == ["ann@example.org"]
    path = link_of(message, mailed)
    assert path.startswith("/verify/")
    assert "not verified yet" in ann.get("/account").text
    assert anybody.fill(path).status_code == 303
    assert anybody.fill(path, page="/login").status_code == 404
    assert "verified. You get" in ann.get("/account").text
    answers = [anybody.fill("/forgot", {"login": name}) for name in ("ann", "ann", "nobody")]
    assert {(a.status_code, a.headers["location"]) for a in answers} == {(303, "/login")}
    mailed.work()
    to, message = mailed.mails[-1]
    assert len(mailed.mails) == 2, "once an hour"
    path = link_of(message, mailed)
    new = {"new_password": "another password", "same_password": "another password"}
    assert anybody.fill(path, new).status_code == 303
    assert mailed.browser().log_in("ann", "another password").status_code == 303
    # No secret stands in a job.
    with mailed.context.store.read() as connection:
        from sqlalchemy import select

        from cranfield.server.store.tables import job

        inputs = " ".join(connection.execute(select(job.c.input)).scalars())
    assert path.rpartition("/")[2] not in inputs


def test_teams_register_by_the_link_of_a_mail(mailed):
    organiser = mailed.browser("organiser", mailed.password)
    page = "/tiny/organise/people"
    data = {"addresses": "eva@example.org\nfay@example.org", "invited_role": ""}
    assert organiser.fill(f"{page}/invitations", data, page=page).status_code == 303
    mailed.work()
    assert sorted(to[0] for to, _ in mailed.mails) == ["eva@example.org", "fay@example.org"]
    path = link_of(mailed.mails[0][1], mailed)
    eva = mailed.browser()
    register = eva.get(path).headers["location"]
    assert "Invited as" in eva.get(register).text
    secret = register.rpartition("=")[2]
    team = {"acronym": "EVA", "name": "Team of Eva", "signature": "Eva", "invitation": secret}
    person = {"login": "eva", "person": "Eva", "password": PASSWORD}
    answer = eva.fill("/tiny/register", person | team, page=register)
    assert answer.status_code == 303, answer.text
    assert eva.get(path).status_code == 404, "works once"
    contacts = organiser.get(f"{page}/contacts.csv").text
    row = next(line for line in contacts.splitlines() if "eva," in line)
    assert row.startswith("Eva,eva,")
    assert ",yes,EVA,lead," in row


def test_without_a_server_links_of_invitations_are_shown_once(site):
    organiser = site.browser("organiser", site.password)
    page = "/tiny/organise/people"
    data = {"addresses": "gus@example.org", "invited_role": "J"}
    text = organiser.fill(f"{page}/invitations", data, page=page).text
    path = re.search(r"(/tiny/invited/[\w-]+)", text)[1]
    assert path not in organiser.get(page).text
    gus = site.browser()
    person = {"login": "gus", "person": "Gus", "password": PASSWORD}
    short = gus.fill(path, person | {"password": "short"})
    assert short.status_code == 400
    assert 'value="Gus"' in short.text
    assert gus.fill(path, person).status_code == 303
    assert site.browser("gus").get("/tiny/adjudicate/none").status_code == 404
    assert site.browser("gus").get("/tiny/organise").status_code == 403
    assert site.browser("gus").fill(path, page="/account").status_code == 404


def test_participants_are_told_of_dates_and_results(mailed):
    for name in ("ann", "bob"):
        browser = mailed.browser(name)
        browser.fill("/account/email", {"email": f"{name}@example.org"}, page="/account")
    mailed.work()
    mailed.browser().fill(link_of(mailed.mails[0][1], mailed))
    verified = mailed.mails[0][0]
    mailed.mails.clear()
    organiser = mailed.browser("organiser", mailed.password)
    page = organiser.get("/tiny/organise/settings").text
    fields = dict(re.findall(r'name="(\w+)"[^>]* value="([^"]*)"', page))
    fields |= dict(re.findall(r'<textarea[^>]* name="(\w+)"[^>]*>\n([^<]*)</textarea>', page))
    later = {"closes": "2027-03-01T12:00"}
    assert organiser.fill("/tiny/organise/settings", fields | later).status_code == 303
    mailed.work()
    assert [to for to, _ in mailed.mails] == [verified], "only verified addresses"
    assert "2027-03-01T12:00:00Z" in mailed.mails[0][1].get_content()
    put(mailed.program(mailed.add_token(mailed.ann, mailed.one)), "r1", run_text())
    mailed.time += 60 * DAY / 1000
    mailed.move("closed", "scoring", "released")
    assert "results are out" in mailed.mails[-1][1]["subject"]


def test_contacts_are_for_organisers_after_their_password(site):
    for path in ("/tiny/organise/people", "/tiny/organise/people/contacts.csv"):
        assert site.browser("ann").get(path).status_code == 403
    organiser = site.browser("organiser", site.password)
    site.time += 3600
    assert organiser.get("/tiny/organise/people/contacts.csv").status_code == 303


def test_two_teams_become_one_with_their_runs(site):
    for who, team, best in ((site.ann, site.one, "d0"), (site.bob, site.two, "d1")):
        put(site.program(site.add_token(who, team)), "r1", run_text((best,)))
    organiser = site.browser("organiser", site.password)
    page = "/tiny/organise/people"
    data = {"merged_team": site.two, "into_team": site.one}
    asked = organiser.fill(f"{page}/merge", data, page=page)
    assert asked.status_code == 200
    assert "There is no way back" in asked.text
    done = organiser.fill(f"{page}/merge", data | {"sure": "yes"}, page=page)
    assert done.status_code == 303, done.text
    runs = site.browser("bob").get("/tiny/runs").text
    assert ">r1<" in runs
    assert ">r1-TWO<" in runs
    assert "runs 2 of 5" in site.browser("ann").get("/tiny/submit").text
    assert "merged TWO into ONE" in organiser.get("/tiny/organise").text
    same = organiser.fill(f"{page}/merge", {"merged_team": site.one, "into_team": site.one})
    assert same.status_code in (400, 405)


class Listener(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.calls.append((self.headers[SIGNATURE], body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_programs_are_told_with_a_signature_and_only_where_the_site_allows(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    server.calls = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    organiser = site.browser("organiser", site.password)
    page = "/tiny/organise/people"
    address = f"http://127.0.0.1:{server.server_address[1]}/hook"
    data = {"url": address, "on_scored": "yes", "on_released": "yes"}
    refused = organiser.fill(f"{page}/webhooks", data, page=page)
    assert refused.status_code == 400
    assert "it may call: none" in refused.text
    (port,) = server.server_address[1:]
    settings = replace(site.settings, webhook_hosts=(f"127.0.0.1:{port}",))
    object.__setattr__(site.context, "settings", settings)
    secret = re.search(
        r"shown once: <code>(\w+)<", organiser.fill(f"{page}/webhooks", data, page=page).text
    )[1]
    put(site.program(site.add_token(site.ann, site.one)), "r1", run_text())
    site.time += 31 * DAY / 1000
    site.move("closed", "scoring", "released")
    server.shutdown()
    thread.join(60)
    server.server_close()
    events = [json.loads(body)["event"] for _, body in server.calls]
    assert sorted(events) == ["released", "scored", "scored"]
    assert all(mark == signature(secret, body) for mark, body in server.calls)
    assert "answered 204" in site.browser("organiser", site.password).get(page).text


@pytest.mark.parametrize(
    "url",
    [
        "http://[",
        "http://\u2100.com/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:x/",
        "http://127.0.0.1/a b",
        "http://127.0.0.1/\u00e9",
        "http://127.0.0.1/a\r\nX-Other: y",
        "http://127.0.0.1@elsewhere.example/",
        "http://:secret@127.0.0.1/",
        "http://127.0.0.1:25/",
        "https://127.0.0.1:80/",
        "http://127.1/",
        "http://2130706433/",
        "http://[::ffff:127.0.0.1]/",
        "http://127.0.0.1./",
        "http://[::1]:81/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://127.0.0.1/" + "a" * 2000,
    ],
)
def test_addresses_of_programs_lead_nowhere_else(unserved, url):
    settings = replace(unserved.settings, webhook_hosts=("127.0.0.1", "::1", "ci.example:8443"))
    object.__setattr__(unserved.context, "settings", settings)
    with pytest.raises(UsageError):
        webhooks.checked_url(unserved.context, url)
    for good in ("http://127.0.0.1/a?b=1", "https://[::1]/", "https://CI.example:8443/x"):
        assert webhooks.checked_url(unserved.context, good) == good


def test_an_address_that_is_none_is_told_beside_its_field(site):
    object.__setattr__(site.context, "settings", replace(site.settings, webhook_hosts=("a.b",)))
    organiser = site.browser("organiser", site.password)
    page = "/tiny/organise/people"
    answer = organiser.fill(f"{page}/webhooks", {"url": "http://[", "on_scored": "yes"}, page=page)
    assert answer.status_code == 400
    assert "https://host/path" in answer.text


def test_redirects_are_not_followed_and_an_answer_without_end_is_ended(unserved, monkeypatch):
    monkeypatch.setattr(webhooks, "SECONDS", 1.0)
    elsewhere = socket.create_server(("127.0.0.1", 0))
    elsewhere.settimeout(0)
    over = threading.Event()

    class Hostile(socketserver.StreamRequestHandler):
        def handle(self):
            if b"/away" in self.rfile.readline():
                port = elsewhere.getsockname()[1]
                self.wfile.write(
                    f"HTTP/1.1 302 -\r\nLocation: http://127.0.0.1:{port}/\r\n".encode()
                )
                self.wfile.write(b"Content-Length: 0\r\n\r\n")
                return
            # A byte again and again: no single wait is long.
            try:
                while not over.wait(0.05):
                    self.wfile.write(b"H")
            except OSError:
                pass

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Hostile) as server:
        server.daemon_threads = True
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        assert webhooks._post(f"{address}/away", b"{}", "x") == ("answered 302", False)
        outcomes = []
        calling = threading.Thread(
            target=lambda: outcomes.append(webhooks._post(f"{address}/drip", b"{}", "x")),
            daemon=True,
        )
        calling.start()
        try:
            joined([calling])
        finally:
            over.set()
            server.shutdown()
            joined([serving])
    assert outcomes[0][0].startswith("not reached")
    with pytest.raises(BlockingIOError):
        elsewhere.accept()
    elsewhere.close()


def test_nobody_is_flooded_with_mails_that_ask_for_an_address(mailed):
    ann = mailed.browser("ann")
    for _ in range(6):
        ann.fill("/account/email", {"email": "victim@example.org"}, page="/account")
    mailed.browser("bob").fill("/account/email", {"email": "Victim@example.org"}, page="/account")
    mailed.work()
    assert len(mailed.mails) == 3
    # The links that were sent are good still.
    assert mailed.browser().fill(link_of(mailed.mails[-1][1], mailed)).status_code == 303
    assert "verified. You get" in ann.get("/account").text
    for number in range(12):
        ann.fill("/account/email", {"email": f"v{number}@example.org"}, page="/account")
    mailed.work()
    assert len(mailed.mails) == 10
    mailed.time += 3601
    ann.fill("/account/email", {"email": "later@example.org"}, page="/account")
    mailed.work()
    assert mailed.mails[-1][0] == ["later@example.org"]


def test_a_link_that_an_organiser_saw_verifies_no_address(site):
    organiser = site.browser("organiser", site.password)
    page = "/tiny/organise/people"
    data = {"addresses": "victim@example.org", "invited_role": "A"}
    text = organiser.fill(f"{page}/invitations", data, page=page).text
    path = re.search(r"(/tiny/invited/[\w-]+)", text)[1]
    eve = site.browser("ann")
    assert eve.fill(path, page=path).status_code == 303
    assert "not verified yet" in eve.get("/account").text


def test_an_invitation_works_once_also_at_the_same_moment(both):
    """Two who have the link and press at once: one gets the role."""

    def invited(connection):
        row = by_slug(connection, "tiny")
        new = mail.invite(connection, both.context, "test", row, "a@example.org", "J")
        return row["id"], mail.invitation_link(connection, both.context, new)

    campaign_id, secret = both.context.store.write(invited)
    people = [both.add_person(name) for name in ("ann", "bob")]
    meeting, outcomes = threading.Barrier(2, timeout=60), []

    def take(person):
        def write(connection):
            mail.invitation_of(connection, both.context, campaign_id, secret)
            if not both.context.store.is_sqlite and meeting.n_waiting < 2 and not outcomes:
                with suppress(threading.BrokenBarrierError):
                    meeting.wait(PATIENCE)
            mail.use_invitation(connection, both.context, person, campaign_id, secret)

        try:
            both.context.store.write(write)
            outcomes.append("taken")
        except UsageError:
            outcomes.append("refused")

    at_once([lambda person=person: take(person) for person in people])
    assert sorted(outcomes) == ["refused", "taken"]


def test_headers_of_mail_take_nothing_from_texts(mailed):
    """A title with line ends adds no header, and no odd address is taken."""

    def retitle(connection):
        row = by_slug(connection, "tiny")
        values = {"title": "A\r\nBcc: victim@example.org\r\n\r\nB {site} %s"}
        campaigns.change(connection, mailed.context, "test", row["id"], values)

    mailed.context.store.write(retitle)
    organiser = mailed.browser("organiser", mailed.password)
    page = "/tiny/organise/people"
    data = {"addresses": "eva@example.org", "invited_role": ""}
    assert organiser.fill(f"{page}/invitations", data, page=page).status_code == 303
    mailed.work()
    ((to, message),) = mailed.mails
    assert to == ["eva@example.org"]
    assert "bcc" not in message
    for odd in (
        "a@b\r\nBcc:c@d",
        "(x)y@example.org",
        "a\x07b@example.org",
        "a@[127.0.0.1]",
        "a@b@c",
    ):
        with pytest.raises(UsageError):
            mail.checked_email(odd)


def test_links_name_the_address_of_the_site_whatever_a_request_says(mailed):
    """The host of a request that asks for a link to a new password stands in no mail."""
    ann = mailed.browser("ann")
    ann.fill("/account/email", {"email": "ann@example.org"}, page="/account")
    mailed.work()
    mailed.browser().fill(link_of(mailed.mails[-1][1], mailed))
    stranger = mailed.browser()
    stranger.headers["X-Forwarded-Host"] = "evil.example"
    stranger.headers["Host"] = "evil.example"
    stranger.fill("/forgot", {"login": "ann"})
    mailed.work()
    content = mailed.mails[-1][1].get_content()
    assert "evil.example" not in content
    assert link_of(mailed.mails[-1][1], mailed).startswith("/reset/")


def test_the_password_of_the_mail_server_is_not_sent_in_the_clear(monkeypatch):
    class Plain:
        def __init__(self, *_, **__):
            self.closed = False

        def ehlo(self):
            return 250

        def has_extn(self, _):
            return False

        def close(self):
            self.closed = True

        def login(self, *_):
            raise AssertionError("the password was sent")

    monkeypatch.setattr(mail.smtplib, "SMTP", Plain)
    with pytest.raises(CranfieldError, match="no encryption"):
        mail._connect("smtp://user@mail.example.org")


def test_certificates_of_mail_servers_are_looked_at(monkeypatch):
    contexts = []

    class Encrypted:
        def __init__(self, *_, context=None, **__):
            contexts.append(context)

        def ehlo(self):
            return 250

        def has_extn(self, _):
            return True

        def starttls(self, *, context=None):
            contexts.append(context)

        def login(self, *_):
            return 235

    monkeypatch.setattr(mail.smtplib, "SMTP", Encrypted)
    monkeypatch.setattr(mail.smtplib, "SMTP_SSL", Encrypted)
    mail._connect("smtp://user@mail.example.org")
    mail._connect("smtps://user@mail.example.org")
    used = [context for context in contexts if context is not None]
    assert len(used) == 2
    assert all(context.check_hostname for context in used)
    assert all(context.verify_mode == ssl.CERT_REQUIRED for context in used)
