"""Mail by a real SMTP server on loopback, invitations, contacts, merged teams, webhooks."""

import email
import json
import re
import socketserver
import threading
from dataclasses import replace
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cranfield.server.services.webhooks import SIGNATURE, signature
from tests.server.conftest import put
from tests.server.world import DAY, PASSWORD, run_text


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
    settings = replace(site.settings, webhook_hosts=("127.0.0.1",))
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
