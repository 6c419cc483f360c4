"""The interface for programs held to its own description: no request makes a fault of ours."""

import os

import schemathesis
from schemathesis.checks import not_a_server_error

from tests.server.world import Site

CASES = int(os.environ.get("CRANFIELD_CASES", "120"))


def test_no_request_is_a_fault_of_ours(open_folder, tmp_path):
    """Requests made up from the description, by a team, an organiser and nobody."""
    import shutil

    from hypothesis import HealthCheck, settings

    folder, known = open_folder
    shutil.copytree(folder, tmp_path / "copy")
    site = Site(tmp_path / "copy", password=known["password"])
    seen = []
    with site.serving():
        organiser = site.add_person("olga")
        site.grant(organiser, "O", None)
        tokens = ["", site.add_token(*known["ann"]), site.add_token(organiser, None, "all")]
        schema = schemathesis.openapi.from_url(f"{site.address}/api/v1/openapi.json")
        for operation in schema.get_all_operations():
            chosen = operation.ok()

            @settings(
                max_examples=CASES,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            def ask(case):
                token = tokens[len(seen) % len(tokens)]
                case.path_parameters = {
                    name: {"c": "tiny", "t": "ranked"}.get(name, value)
                    for name, value in (case.path_parameters or {}).items()
                }
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                answer = case.call(headers=headers)
                seen.append(answer.status_code)
                case.validate_response(answer, checks=[not_a_server_error])

            from hypothesis import given

            given(case=chosen.as_strategy())(ask)()
    assert len(seen) > 1000 or CASES < 120
    assert max(seen) < 500
