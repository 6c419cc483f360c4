"""Commands on the folder of a site: what is not there is told, and nothing is made by asking."""

import socket

import pytest

from cranfield.cli import main
from cranfield.errors import UsageError
from cranfield.server import Settings, judging, operate, serve
from tests.server.postgres import new_database, running

PLACE = "http://127.0.0.1:1/tiny"


@pytest.mark.parametrize(
    "command",
    ["verify {}", "backup {} --to {}.tar.gz", "export {} tiny --to {}-out", "rescore {} tiny"],
)
def test_a_folder_that_is_no_site_is_not_made_one(command, tmp_path, capsys):
    there = tmp_path / "typo"
    assert main(["campaign", *command.format(there, there).split()]) == 2
    assert "is not the folder of a site" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_not_there_is_told(unserved):
    folder = unserved.settings.folder
    with pytest.raises(UsageError, match="there is no such store"):
        operate.verify_site(folder, database=f"sqlite:///{folder}/other.sqlite")
    with running() as server, pytest.raises(UsageError, match="it is empty"):
        operate.verify_site(folder, database=new_database(server, "nothing"))
    assert operate.verify_site(folder).holds


def test_a_site_that_cannot_listen_is_not_begun(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match="in use"):
            serve(Settings(tmp_path / "site", port=port))
    with pytest.raises(UsageError, match="port=99999"):
        serve(Settings(tmp_path / "site", port=99999))
    for proxy in ("*", "a.proxy", "10.0.0.0/8"):
        with pytest.raises(UsageError, match="is not one address"):
            serve(Settings(tmp_path / "site", port=8000, proxy=proxy))
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_judges_is_named_and_ends_where_nothing_can_be_stored(monkeypatch):
    with pytest.raises(UsageError, match="command="):
        judging.judge(to=PLACE, command=" ", token="cw_x")
    asked = []

    def answered(_place, _secret, method, path, _body=None):
        asked.append(path)
        if method == "GET":
            return 200, {"assignment": "one", "item": "d0"}
        return 409, {"detail": "this batch does not take answers now"}

    monkeypatch.setattr(judging, "_ask", answered)
    with pytest.raises(UsageError, match="does not take answers now"):
        judging.judge(to=PLACE, command="echo '{\"skip\": true}'", token="cw_x")
    assert len(asked) == 2
