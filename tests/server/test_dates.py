"""Dates that no page could show are refused."""

import pytest


@pytest.mark.parametrize(
    "odd", ["0001-01-01T00:00+12:00", "9999-12-31T23:59-12:00", "0001-01-01T00:00"]
)
def test_dates_out_of_range_are_refused(site, odd):
    organiser = site.browser("organiser", site.password)
    page = "/tiny/organise/settings"
    for name in ("opens", "closes", "release"):
        said = {"title": "T", "runs_per_team": "5", "closes": "2099-01-01T00:00"} | {name: odd}
        assert organiser.fill(page, said).status_code == 400, name
    for path in ("/", "/tiny", "/tiny/organise", page):
        assert organiser.get(path).status_code == 200, path
