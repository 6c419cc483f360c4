"""Passwords: changed by their owner or for them, with all sessions and tokens ended."""

import json
import re

from cranfield.cli import main
from tests.server.world import PASSWORD

NEW = "quite another password"


def change(browser, old=PASSWORD, new=NEW, same=None):
    said = {"old_password": old, "new_password": new, "same_password": same or new}
    return browser.fill("/account/password", said, page="/account")


def enters(site, login, password):
    answer = site.browser().fill("/login", {"login": login, "password": password})
    return answer.status_code == 303


def reads(site, *tokens):
    """What programs with these tokens are answered."""
    return {site.program(token).get("/tasks/ranked/runs").status_code for token in tokens}


def test_the_owner_changes_the_password_and_all_sessions_and_tokens_end(both):
    who, team = both.add_team("ann", "ONE")
    bob = both.add_team("bob", "TWO")
    mine = both.add_token(who, team), both.add_token(who, None, "all")
    other = both.add_token(*bob)
    here, elsewhere, stranger = both.browser("ann"), both.browser("ann"), both.browser("bob")
    assert reads(both, *mine, other) == {200}
    for odd in ({"old": "not this one"}, {"new": "short"}, {"same": "not the same one"}):
        assert change(here, **odd).status_code == 400, odd
    assert elsewhere.get("/account").status_code == 200
    answer = change(here)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    for browser in (here, elsewhere):
        assert browser.get("/account").headers["location"].startswith("/login")
    assert reads(both, *mine) == {401}
    assert not enters(both, "ann", PASSWORD)
    assert enters(both, "ann", NEW)
    # Nobody else has noticed.
    assert stranger.get("/account").status_code == 200
    assert reads(both, other) == {200}


def test_guesses_of_the_old_password_are_counted(both):
    both.add_team("ann", "ONE")
    browser = both.browser("ann")
    texts = [change(browser, old=f"guess number {k}").text for k in range(6)]
    assert all("is not right" in text for text in texts[:5])
    assert "too many attempts" in texts[5].lower()


def test_sessions_are_listed_and_ended_by_their_owner_alone(both):
    both.add_team("ann", "ONE")
    both.add_team("bob", "TWO")
    here, elsewhere, bob = both.browser("ann"), both.browser("ann"), both.browser("bob")
    pattern = r'action="(/account/sessions/[0-9a-f]{16}/end)".*?<span>([^<]*)</span>'
    listed = re.findall(pattern, here.get("/account").text)
    assert len(listed) == 2
    (other,) = [path for path, words in listed if "(here)" not in words]
    assert bob.fill(other, page="/account").status_code == 404
    assert elsewhere.get("/account").status_code == 200
    for odd in ("%25", "_" * 16, "0"):
        assert here.fill(f"/account/sessions/{odd}/end", page="/account").status_code == 404
    assert here.fill(other, page="/account").status_code == 303
    assert elsewhere.get("/account").status_code == 303
    assert here.get("/account").status_code == 200


def test_an_administrator_makes_a_new_password(both):
    who, team = both.add_team("ann", "ONE")
    token, ann = both.add_token(who, team), both.browser("ann")
    administrator = both.browser("organiser", both.password)
    shown = administrator.fill(f"/admin/people/{who}/password", page="/admin")
    password = re.search(r"shown once: <code>([^<]+)</code>", shown.text)[1]
    assert ann.get("/account").status_code == 303
    assert reads(both, token) == {401}
    assert enters(both, "ann", password)
    assert not enters(both, "ann", PASSWORD)
    assert administrator.fill("/admin/people/x/password", page="/admin").status_code == 404


def test_the_command_makes_a_new_password(both, capsys):
    who, team = both.add_team("ann", "ONE")
    token, ann = both.add_token(who, team), both.browser("ann")
    where = ["--db", both.settings.database] if both.settings.database else []
    folder = str(both.settings.folder)
    assert main(["campaign", "passwd", folder, "ann", "--format", "json", *where]) == 0
    said = capsys.readouterr().out
    password = re.search(r'shown once\)": "([^"]+)"', json.dumps(json.loads(said)))[1]
    assert ann.get("/account").status_code == 303
    assert reads(both, token) == {401}
    assert enters(both, "ann", password)
    assert main(["campaign", "passwd", folder, "nobody", *where]) == 2
    assert "there is no login name" in capsys.readouterr().err


def test_a_link_sets_a_new_password_once_and_soon(site):
    admin = site.browser("organiser", site.password)
    home = f"/admin/people/{site.ann}/link"
    page = admin.fill(home, {"password": site.password}, page="/admin").text
    if "/reset/" not in page:
        admin.fill("/confirm", {"password": site.password})
        page = admin.fill(home, page="/admin").text
    path = re.search(r"/reset/[\w-]+", page)[0]
    ann = site.browser("ann")
    assert ann.get("/account").status_code == 200
    visitor = site.browser()
    assert "A new password for ann" in visitor.get(path).text
    short = visitor.fill(path, {"new_password": "short", "same_password": "short"})
    assert short.status_code == 400
    other = visitor.fill(
        path, {"new_password": "quite long enough", "same_password": "another one"}
    )
    assert other.status_code == 400
    new = {"new_password": "quite long enough", "same_password": "quite long enough"}
    token = visitor.token(path)
    assert visitor.post(path, data=new | {"csrf": token}).status_code == 303
    # Every session has ended, the old password is gone, the link is used.
    assert ann.get("/account").status_code == 303
    assert not enters(site, "ann", PASSWORD)
    assert enters(site, "ann", "quite long enough")
    assert visitor.get(path).status_code == 404
    assert visitor.post(path, data=new | {"csrf": token}).status_code == 404


def test_a_link_ends_is_replaced_and_is_kept_as_a_hash(site):
    from cranfield.server.services import accounts

    def make():
        return site.context.store.write(
            lambda c: accounts.add_password_link(c, site.context, "test", site.ann)
        )

    first, second = make(), make()
    assert site.browser().get(f"/reset/{first}").status_code == 404
    assert site.browser().get(f"/reset/{second}").status_code == 200
    assert second.encode() not in (site.settings.folder / "campaign.sqlite").read_bytes()
    site.time += (accounts.PASSWORD_LINK_HOURS * 3600) + 1
    assert site.browser().get(f"/reset/{second}").status_code == 404
    assert site.browser().get("/reset/nothing").status_code == 404
