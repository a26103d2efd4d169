"""Settings: the environment overrides the file, each value has its origin, and the error for an invalid one says what
to do.
"""

import threading
from pathlib import Path

import pytest

from bot.errors import InvalidSettings
from bot.settings import LoadedSettings, load_settings
from storage.sql.database_url import parse_database_url


def load_from(home: Path, toml: str = "", **environ: str) -> LoadedSettings:
    home.mkdir(exist_ok=True)
    (home / "parley.toml").write_text(toml, encoding="utf-8")
    return load_settings(home, environ)


def test_a_fresh_home_works_without_any_setting(tmp_path: Path) -> None:
    settings = load_settings(tmp_path / "new" / "home", {}).settings

    assert settings.effective_database_url == f"sqlite:///{tmp_path / 'new' / 'home' / 'parley.db'}"
    assert settings.index_url == "embedded:"
    assert (settings.overload_limit, settings.read_limit) == (100, 20)
    assert settings.link_base == "http://127.0.0.1:8080"


def test_a_home_with_the_special_characters_of_a_url_is_where_the_database_is(tmp_path: Path) -> None:
    home = tmp_path / "what? #1 100%"

    assert parse_database_url(load_from(home).settings.effective_database_url).database == str(home / "parley.db")


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    result = load_from(tmp_path, 'port = 9000\nPARLEY_TENANT = "acme"\n', PARLEY_PORT="9001")

    assert (result.settings.port, result.settings.tenant, result.settings.host) == (9001, "acme", "127.0.0.1")
    assert result.sources["PARLEY_PORT"] == "environment"
    assert result.sources["PARLEY_TENANT"] == "parley.toml"
    assert result.sources["PARLEY_HOST"] == "default"
    assert result.sources["PARLEY_HOME"] == "command line"
    assert result.sources["PARLEY_SECRET_KEY"] == "generated in the home"


def test_the_home_comes_from_the_environment_where_none_is_given(tmp_path: Path) -> None:
    assert load_settings(None, {"PARLEY_HOME": str(tmp_path)}).settings.home == tmp_path


def test_lists_are_separated_by_commas(tmp_path: Path) -> None:
    settings = load_from(tmp_path, 'accounts = ["teams:X"]', PARLEY_ADMINS="slack:T1:U1, local:ann,").settings

    assert settings.admins == ("slack:T1:U1", "local:ann")
    assert settings.accounts == ("teams:X",)


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    assert load_from(tmp_path, PARLEY_PORT="").settings.port == 8080


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PARLEY_PORT", "eighty", "valid integer"),
        ("PARLEY_PORT", "70000", "less than or equal to 65535"),
        ("PARLEY_OVERLOAD_LIMIT", "0", "greater than or equal to 1"),
        ("PARLEY_INDEX_URL", "ftp://x", "neither embedded: nor http"),
        ("PARLEY_DATABASE_URL", "mysql://x", "begins neither with postgresql"),
        ("PARLEY_PUBLIC_URL", "example.org", "does not begin with http"),
        ("PARLEY_SECRET_KEY", " , ", "holds no key"),
        ("PARLEY_EMBEDDER", "nothing", "'wordllama' or 'none'"),
        ("PARLEY_RERANKER", "flashrank:", "neither empty nor flashrank:MODEL"),
        ("PARLEY_RERANKER", "flashrank:../elsewhere", "neither empty nor flashrank:MODEL"),
        ("PARLEY_ADMINS", "slack:T1", "is not a person"),
        ("PARLEY_ACCOUNTS", "irc:x", "neither slack:TEAM nor teams:TENANT"),
    ],
)
def test_the_error_names_the_setting_its_fault_and_what_to_do(
    tmp_path: Path, name: str, value: str, reason: str
) -> None:
    with pytest.raises(InvalidSettings, match=rf"{name} is not valid .*{reason}.*: correct it") as raised:
        load_from(tmp_path, **{name: value})

    assert raised.value.setting == name


def test_a_file_that_a_variable_names_holds_the_value(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a-key,an-old-key\n", encoding="utf-8")

    by_file = load_from(tmp_path / "home", PARLEY_SECRET_KEY_FILE=str(secret))
    by_both = load_from(tmp_path / "home", PARLEY_SECRET_KEY_FILE=str(secret), PARLEY_SECRET_KEY="another")

    assert by_file.settings.secret_keys == (b"a-key", b"an-old-key")
    assert (by_file.sources["PARLEY_SECRET_KEY"], by_file.misspelled) == ("environment", {})
    assert by_both.settings.secret_keys == (b"another",)


def test_a_file_of_a_setting_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"PARLEY_SECRET_KEY_FILE names .*nowhere, which cannot be read"):
        load_from(tmp_path / "home", PARLEY_SECRET_KEY_FILE=str(tmp_path / "nowhere"))


def test_pictures_are_on_unless_they_are_switched_off(tmp_path: Path) -> None:
    assert load_from(tmp_path).settings.pictures
    assert not load_from(tmp_path, PARLEY_PICTURES="off").settings.pictures


def test_an_unknown_key_in_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"'prot' in .*parley\.toml is not a setting"):
        load_from(tmp_path, "prot = 1")


def test_a_file_that_is_not_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"parley.toml cannot be read"):
        load_from(tmp_path, "port 1")


def test_a_home_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidSettings, match=r"PARLEY_HOME points to .*, which cannot be written"):
        load_settings(tmp_path / "file" / "home", {})


def test_a_shared_database_needs_a_configured_key(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="PARLEY_SECRET_KEY is not set"):
        load_from(tmp_path, PARLEY_DATABASE_URL="postgresql://db/parley")

    result = load_from(tmp_path, PARLEY_DATABASE_URL="postgresql://db/parley", PARLEY_SECRET_KEY="new, old")
    assert result.settings.secret_keys == (b"new", b"old")


def test_the_generated_key_is_kept_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    first, second = load_from(tmp_path).settings, load_from(tmp_path).settings

    assert first.secret_keys == second.secret_keys
    assert len(first.secret_keys[0]) >= 48
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0


def test_processes_that_start_at_the_same_time_share_one_key(tmp_path: Path) -> None:
    keys: list[bytes] = []
    start = threading.Barrier(8)

    def begin() -> None:
        start.wait()
        keys.extend(load_settings(tmp_path, {}).settings.secret_keys)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(keys) == 8
    assert len(set(keys)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]


def test_two_ways_to_log_in_to_the_index_are_a_problem(tmp_path: Path) -> None:
    settings = load_from(tmp_path, PARLEY_INDEX_API_KEY="k", PARLEY_INDEX_AWS_REGION="eu-central-1").settings

    assert settings.find_problems() == [
        "PARLEY_INDEX_API_KEY is used, and not PARLEY_INDEX_AWS_REGION: set one of them"
    ]
    assert load_from(tmp_path, PARLEY_INDEX_AWS_REGION="us-gov-west-1").settings.find_problems() == []


def test_a_region_of_aws_is_named_as_aws_does(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"PARLEY_INDEX_AWS_REGION.*not the name of a region"):
        load_from(tmp_path, PARLEY_INDEX_AWS_REGION="Frankfurt")
