"""The Dockerfile and `compose.yaml`, as far as they can be checked without a container engine."""

import re
from pathlib import Path
from typing import Any, Final

import yaml

from bot.settings import load_settings

ROOT: Final = Path(__file__).parents[2]
DOCKERFILE: Final = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: Final[dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: Final[dict[str, dict[str, Any]]] = COMPOSE["services"]
# A tag with a version of two parts at least, or a digest.
PINNED: Final = re.compile(r"[\w./-]+(?::\d+\.\d+[\w.-]*)?(?:@sha256:[0-9a-f]{64})?")
SECRET_NAME: Final = re.compile(r"KEY|TOKEN|PASSWORD|SECRET|DATABASE_URL")


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their arguments; continued lines are joined."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE).replace("\\\n", " ")
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line.strip())]


def final_stage() -> list[tuple[str, str]]:
    last = max(index for index, (word, _) in enumerate(instructions()) if word == "FROM")
    return instructions()[last:]


def test_the_image_does_not_run_as_root() -> None:
    users = [rest for word, rest in final_stage() if word == "USER"]

    assert users == ["10001:10001"]
    assert SERVICES["parley"]["user"] == "10001:10001"


def test_the_base_images_are_named_by_version_and_can_be_pinned_by_digest() -> None:
    [default] = [rest.partition("=")[2] for word, rest in instructions() if word == "ARG"]

    assert PINNED.fullmatch(default)
    assert ":" in default
    assert {rest.split()[0] for word, rest in instructions() if word == "FROM"} == {"${PYTHON_IMAGE}"}
    assert "COPY --from=ghcr" not in DOCKERFILE


def test_the_image_is_built_from_hashes_alone() -> None:
    installs = [rest for word, rest in instructions() if word == "RUN" and re.search(r"\bpip install|uv sync", rest)]

    assert len(installs) == 3
    assert all("--require-hashes" in command or "--frozen" in command for command in installs)


def test_the_image_is_compiled_and_writes_nothing_beside_its_code() -> None:
    environment = " ".join(rest for word, rest in instructions() if word == "ENV")

    assert "UV_COMPILE_BYTECODE=1" in environment
    assert "PYTHONDONTWRITEBYTECODE=1" in environment


def test_what_is_copied_into_the_image_is_named_one_by_one() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()

    assert ignored[0] == "*"
    assert not {"!secrets", "!.env", "!.git", "!tests"} & set(ignored)


def test_each_service_is_checked_limited_and_pinned() -> None:
    for name, service in SERVICES.items():
        assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL"), name
        assert {"mem_limit", "restart", "logging", "stop_grace_period", "volumes"} <= service.keys(), name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert "privileged" not in service, name
        if "build" not in service:
            assert ":" in service["image"], name
            assert PINNED.fullmatch(service["image"]), name


def test_parley_has_a_read_only_root_file_system_and_no_capability() -> None:
    parley = SERVICES["parley"]

    assert parley["read_only"] is True
    assert parley["cap_drop"] == ["ALL"]
    assert parley["volumes"] == ["home:/home/parley/data"]
    assert all(port.startswith("127.0.0.1:") for port in parley["ports"])


def test_the_servers_cannot_be_reached_from_outside() -> None:
    assert COMPOSE["networks"]["backend"]["internal"] is True
    for name in ("postgres", "opensearch"):
        assert SERVICES[name]["networks"] == ["backend"]
        assert "ports" not in SERVICES[name]


def test_parley_waits_for_its_servers_and_is_given_time_to_end() -> None:
    parley = SERVICES["parley"]
    grace_s = int(parley["stop_grace_period"].removesuffix("s"))

    assert {name: wait["condition"] for name, wait in parley["depends_on"].items()} == {
        "postgres": "service_healthy",
        "opensearch": "service_healthy",
    }
    assert grace_s >= int(parley["environment"]["PARLEY_STOP_TIMEOUT"]) + 5


def test_no_secret_stands_in_the_files() -> None:
    for name, service in SERVICES.items():
        for variable, value in service["environment"].items():
            if SECRET_NAME.search(variable) and not variable.endswith("_FILE"):
                assert re.fullmatch(r"\$\{\w+:-\}", value), (name, variable)
    assert not [rest for word, rest in instructions() if word in ("ENV", "ARG") and SECRET_NAME.search(rest)]
    assert all(set(secret) == {"file"} for secret in COMPOSE["secrets"].values())


def test_each_secret_file_is_mounted_where_it_is_used_and_kept_out_of_git() -> None:
    for service in SERVICES.values():
        files = {value for name, value in service["environment"].items() if name.endswith("_FILE")}
        assert files == {f"/run/secrets/{name}" for name in service.get("secrets", ())}
        assert set(service.get("secrets", ())) <= COMPOSE["secrets"].keys()
    assert "secrets/" in (ROOT / ".gitignore").read_text(encoding="utf-8").split()


def test_every_setting_that_is_named_exists(tmp_path: Path) -> None:
    known = {name for section in load_settings(tmp_path, {}).settings.sections for name in section.fields_by_variable()}
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    in_compose = {name.removesuffix("_FILE") for name in SERVICES["parley"]["environment"]}
    in_dockerfile = set(
        re.findall(r"\b(PARLEY_[A-Z_]+)=", " ".join(rest for word, rest in instructions() if word == "ENV"))
    )

    for name in in_compose | in_dockerfile:
        assert name in known
        assert f"`{name}`" in page


def test_opensearch_is_the_version_that_the_tests_run_against() -> None:
    servers = (ROOT / "tests" / "servers" / "opensearch.py").read_text(encoding="utf-8")

    assert f'"{SERVICES["opensearch"]["image"]}"' in servers
