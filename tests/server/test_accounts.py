"""Logging in, waits after wrong passwords, hashes only, licences, teams, the chain of the audit."""

import argon2
from sqlalchemy import select, text, update

from cranfield.server import Passwords, admin
from cranfield.server.services import accounts, audit
from cranfield.server.store.tables import METADATA
from cranfield.server.store.tables import audit as audit_table
from tests.server.world import PASSWORD


def test_wrong_passwords_make_the_next_attempt_wait(site):
    browser = site.browser()
    for _ in range(5):
        wrong = browser.fill("/login", {"login": "ann", "password": "wrong"})
        assert wrong.status_code == 400
    for password in ("wrong", PASSWORD):
        answer = browser.fill("/login", {"login": "ann", "password": password})
        assert answer.status_code == 429
    site.time += 2
    assert browser.fill("/login", {"login": "ann", "password": "wrong"}).status_code == 400
    assert browser.fill("/login", {"login": "ann", "password": PASSWORD}).status_code == 429
    site.time += 1000
    assert browser.fill("/login", {"login": "ann", "password": PASSWORD}).status_code == 303


def test_wrong_passwords_wait_where_they_are_entered_again_too(site):
    browser = site.browser("ann")
    for _ in range(5):
        assert browser.fill("/confirm", {"password": "wrong"}).status_code == 400
    for password in ("wrong", PASSWORD):
        assert browser.fill("/confirm", {"password": password}).status_code == 429
    site.time += 1000
    assert browser.fill("/confirm", {"password": PASSWORD}).status_code == 303
    assert browser.fill("/confirm", {"password": "wrong"}).status_code == 400


def test_an_unknown_name_takes_as_long_as_a_wrong_password(monkeypatch):
    """The same work: one hash is verified, with the same memory and as many passes."""
    verified = []
    verify = argon2.PasswordHasher.verify

    def counted(self, kept, password):
        verified.append(argon2.extract_parameters(kept))
        return verify(self, kept, password)

    monkeypatch.setattr(argon2.PasswordHasher, "verify", counted)
    hasher = accounts.Hasher(Passwords(memory=8192, passes=3))
    kept = hasher.hash(PASSWORD)
    for known in (None, kept):
        assert not hasher.matches(known, "wrong")
    unknown, wrong = verified
    assert unknown == wrong
    assert (wrong.memory_cost, wrong.time_cost) == (8192, 3)


def test_no_secret_is_in_the_store(site):
    token = site.add_token(site.ann, site.one)
    ann = site.browser("ann")
    link = (
        ann.fill("/tiny/team/invitation", page="/tiny/team").text.split("/join/")[1].split("<")[0]
    )
    secrets = {token, token[3:], link, ann.cookies["cranfield_session"], PASSWORD, site.password}
    with site.context.store.read() as connection:
        for table in METADATA.sorted_tables:
            for row in connection.execute(select(table)):
                for value in row:
                    assert not any(secret in str(value) for secret in secrets), table.name


def test_registering_makes_an_account_signs_and_opens_the_data(site):
    browser = site.browser()
    values = {
        "login": "zoe",
        "person": "Zoe Z",
        "password": PASSWORD,
        "acronym": "ZED",
        "name": "Zed Group",
        "country": "Norland",
        "reference": "",
        "signature": "Zoe Z",
    }
    for missing in ("signature", "acronym", "person"):
        assert browser.fill("/tiny/register", values | {missing: ""}).status_code == 400
    assert browser.fill("/tiny/register", values | {"acronym": "one"}).status_code == 400
    assert browser.fill("/tiny/register", values).status_code == 303
    browser.log_in("zoe", PASSWORD)
    assert "ZED" in browser.get("/tiny/team").text
    assert browser.get("/tiny/data").status_code == 200
    link = browser.fill("/tiny/team/invitation", page="/tiny/team").text.split("/join/")[1]
    other = site.browser()
    joining = {"login": "yan", "person": "Yan", "password": PASSWORD, "signature": "Yan Y"}
    assert other.fill(f"/tiny/join/{link.split('<')[0]}", joining).status_code == 303
    other.log_in("yan", PASSWORD)
    assert other.get("/tiny/data").status_code == 200
    assert other.fill("/tiny/team/tokens", page="/tiny/team").status_code == 403


def test_a_new_licence_is_signed_before_the_next_download(site):
    organiser, ann = site.browser("organiser", site.password), site.browser("ann")
    assert ann.get("/tiny/data").status_code == 200
    settings = {
        "title": "T",
        "opens": "2020-01-01T00:00",
        "closes": "2099-01-01T00:00",
        "runs_per_team": "5",
        "licence": "Other words.",
    }
    page = "/tiny/organise/settings"
    assert organiser.fill(page, settings).status_code == 303
    assert ann.get("/tiny/data").headers["location"] == "/tiny/licence"
    refused = site.program(site.add_token(site.ann, site.one)).post("/tasks/ranked/check")
    assert refused.status_code == 403
    assert ann.fill("/tiny/licence", {"signature": "Ann"}).status_code == 303
    assert ann.get("/tiny/data").status_code == 200


def test_an_edited_row_of_the_audit_is_named(unserved):
    with unserved.context.store.read() as connection:
        count, broken = audit.verify(connection)
    assert (count > 5, broken) == (True, "")
    unserved.context.store.write(
        lambda c: c.execute(update(audit_table).where(audit_table.c.n == 3).values(actor="eve"))
    )
    found = admin.verify_site(unserved.settings.folder)
    assert not found.holds
    assert found.notes[0].startswith("audit row 3 ")
    unserved.context.store.write(
        lambda c: c.execute(text("delete from audit where n = (select max(n) from audit)"))
    )
    with unserved.context.store.read() as connection:
        assert audit.verify(connection)[1]


def test_the_first_password_is_printed_once_and_is_no_default(tmp_path):
    from cranfield.server import Settings
    from cranfield.server.services.site import ensure_organiser, open_site
    from tests.server.world import CHEAP

    found = []
    for name in "ab":
        context = open_site(Settings(tmp_path / name, passwords=CHEAP))
        found.append(ensure_organiser(context))
        assert ensure_organiser(context) is None
        context.store.close()
    assert found[0] != found[1]
    assert len(found[0]) == 20
