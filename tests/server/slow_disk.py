"""A disk that is really full: told as 507, nothing half stored, all well afterwards."""

import os
import resource
import shutil
import subprocess
from contextlib import contextmanager

import httpx
import pytest

from cranfield.server import admin
from tests.server.process import started, stopped
from tests.server.slow_kills import ABOUT
from tests.server.world import Site, run_text

MEGABYTE = 1 << 20


@contextmanager
def small_disk(place):
    """A disk of its own, where one may be mounted."""
    place.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", place],
            capture_output=True,
            timeout=20,
        ).returncode
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", place], check=True, timeout=20)


@contextmanager
def without_room(place, left):
    """Fills the disk but for so many bytes."""
    ballast = place / "ballast"
    free = shutil.disk_usage(place).free - left
    with ballast.open("wb") as file:
        try:
            for _ in range(0, max(0, free), 4096):
                file.write(bytes(4096))
                file.flush()
        except OSError:
            pass
    try:
        yield
    finally:
        ballast.unlink()


def copied(open_folder, place):
    folder, known = open_folder
    shutil.copytree(folder, place / "copy")
    site = Site(place / "copy", password=known["password"])
    token = site.add_token(*known["ann"])
    site.context.store.close()
    return site, {"Authorization": f"Bearer {token}"}


def test_a_full_disk_is_told_and_the_site_is_whole_afterwards(open_folder, tmp_path):
    disk = tmp_path / "disk"
    with small_disk(disk) as mounted:
        if not mounted:
            pytest.skip("no disk can be mounted here; the next test limits the size of files")
        site, headers = copied(open_folder, disk)
        process, address = started(site.settings.folder)
        try:
            with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
                put = "/api/v1/tasks/ranked/runs"
                with without_room(disk, MEGABYTE):
                    big = client.put(f"{put}/big", params=ABOUT, content=b"x" * 3 * MEGABYTE)
                with without_room(disk, 0):
                    small = client.put(f"{put}/r1", params=ABOUT, content=run_text().encode())
                    read = client.get(f"{put}")
                    page = httpx.get(f"{address}/tiny", timeout=60)
                after = client.put(f"{put}/r1", params=ABOUT, content=run_text().encode())
                there = client.get(put).json()["runs"]
        finally:
            stopped(process)
        found = admin.verify_site(site.settings.folder)
        assert not list(site.settings.incoming.iterdir())
    print(f"full disk: {big.status_code}, {small.status_code}: {small.json()['detail']}")
    assert (big.status_code, small.status_code) == (507, 507)
    assert "full" in big.json()["detail"]
    assert "full" in small.json()["detail"]
    assert (read.status_code, page.status_code) == (200, 200)
    assert after.status_code == 201
    assert [run["tag"] for run in there] == ["r1"]
    assert found.holds, found.notes


def test_files_that_may_grow_no_more_are_told_alike(open_folder, tmp_path):
    site, headers = copied(open_folder, tmp_path)
    most = (2 * MEGABYTE, resource.RLIM_INFINITY)
    process, address = started(
        site.settings.folder, limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, most)
    )
    try:
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            put = "/api/v1/tasks/ranked/runs"
            big = client.put(f"{put}/big", params=ABOUT, content=b"x" * 3 * MEGABYTE)
            after = client.put(f"{put}/r1", params=ABOUT, content=run_text().encode())
    finally:
        stopped(process)
    assert big.status_code == 507
    assert after.status_code == 201
    assert admin.verify_site(site.settings.folder).holds
