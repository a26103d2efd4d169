"""The one reader of the environment. Its variables win over `parley.toml` in the home, and that over defaults."""

import os
import re
import secrets
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

import platformdirs
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from bot.errors import InvalidSettings, InvalidSubject
from bot.ids import PersonId
from bot.subjects import parse_person

TOML = "parley.toml"
_KEY_FILE = "secret.key"
_FLASHRANK = re.compile(r"flashrank:(\w[\w.-]*)")  # a model's name is a folder's
# Promised names that this version does not read yet; `doctor` says so when they are set.
_NOT_YET = ("PARLEY_MODEL", "PARLEY_MODEL_SMALL", "PARLEY_MODEL_FALLBACKS", "PARLEY_MODEL_API_BASE",
            "PARLEY_MODEL_API_KEY", "PARLEY_TEAMS_OPENID_URL", "PARLEY_TEAMS_TOKEN_URL", "PARLEY_TEAMS_ISSUER",
            "PARLEY_TEAMS_ALLOWED_TENANTS")  # fmt: skip


def _listed(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _person(text: str) -> PersonId:
    try:
        return parse_person(text)
    except InvalidSubject as exc:
        raise ValueError(str(exc)) from exc


def _account(text: str) -> str:
    product, _, rest = text.partition(":")
    if product not in ("slack", "teams") or not rest:
        raise ValueError(f"{text!r} is neither slack:TEAM nor teams:TENANT")
    return text


def _web_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("it does not begin with http:// or https://")
    return url.rstrip("/")


def _index_url(url: str) -> str:
    addresses = url.split(",")
    if url != "embedded:" and not all(one.strip().startswith(("http://", "https://")) for one in addresses):
        raise ValueError("it is neither embedded: nor http(s)://host:9200")
    return url


def _database_url(url: str) -> str:
    if not url.startswith(("sqlite:", "postgresql:", "postgresql+asyncpg:")):
        raise ValueError("it begins neither with postgresql:// nor with sqlite:///")
    return url


def _named_model(name: str) -> str:
    if name and not _FLASHRANK.fullmatch(name):
        raise ValueError("it is neither empty nor flashrank:MODEL")
    return name


def _key_ring(keys: SecretStr) -> SecretStr:
    if not any(part.strip() for part in keys.get_secret_value().split(",")):
        raise ValueError("it holds no key")
    return keys


def _slack_bot(text: str) -> str:
    if re.fullmatch(r"[AB][A-Z0-9]+", text) is None:
        raise ValueError(f"{text!r} is no app's id (A0123) and no bot's (B0123)")
    return text


def _slack_api(url: str) -> str:
    if not url.endswith("/api/"):
        raise ValueError("it does not end in /api/")
    return url


Listed = BeforeValidator(_listed)


class Settings(BaseSettings):
    """Every setting, checked. Build it with `load_settings`."""

    model_config = SettingsConfigDict(
        env_prefix="PARLEY_", env_ignore_empty=True, extra="forbid", frozen=True, populate_by_name=True
    )

    home: Path
    database_url: Annotated[str, AfterValidator(_database_url)] | None = None
    index_url: Annotated[str, AfterValidator(_index_url)] = "embedded:"
    index_user: str | None = None
    index_password: SecretStr | None = None
    index_ca: Path | None = None
    embedder: Literal["wordllama", "none"] = "wordllama"
    reranker: Annotated[str, AfterValidator(_named_model)] = ""
    overload_limit: Annotated[int, Field(ge=1)] = 100
    read_limit: Annotated[int, Field(ge=1)] = 20
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    public_url: Annotated[str, AfterValidator(_web_url)] | None = None
    secret_key: Annotated[SecretStr, AfterValidator(_key_ring)] | None = None
    workers: Annotated[int, Field(ge=0, le=16)] = 1
    tenant: Annotated[str, Field(min_length=1)] = "default"
    accounts: Annotated[tuple[Annotated[str, AfterValidator(_account)], ...], NoDecode, Listed] = ()
    admins: Annotated[tuple[Annotated[PersonId, AfterValidator(_person)], ...], NoDecode, Listed] = ()
    web_token: SecretStr | None = None
    slack_bot_token: Annotated[SecretStr | None, Field(validation_alias="SLACK_BOT_TOKEN")] = None
    slack_signing_secret: Annotated[SecretStr | None, Field(validation_alias="SLACK_SIGNING_SECRET")] = None
    slack_app_token: Annotated[SecretStr | None, Field(validation_alias="SLACK_APP_TOKEN")] = None
    slack_client_id: Annotated[str | None, Field(validation_alias="SLACK_CLIENT_ID")] = None
    slack_client_secret: Annotated[SecretStr | None, Field(validation_alias="SLACK_CLIENT_SECRET")] = None
    slack_api_url: Annotated[str, AfterValidator(_slack_api), Field(validation_alias="SLACK_API_URL")] = (
        "https://slack.com/api/"
    )
    slack_threads: bool = False
    slack_bots: Annotated[tuple[Annotated[str, AfterValidator(_slack_bot)], ...], NoDecode, Listed] = ()
    slack_file_mb: Annotated[int, Field(ge=0)] = 1_000

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load_settings` gives: it has read the sources, to know which one each value is from."""
        return (init_settings,)

    @property
    def database(self) -> str:
        """The database's URL; the SQLite file in the home where none is set."""
        return self.database_url or f"sqlite:///{self.home / 'parley.db'}"

    @property
    def index_path(self) -> Path:
        return self.home / "index"

    @property
    def exports_path(self) -> Path:
        return self.home / "exports"

    @property
    def models_path(self) -> Path:
        return self.home / "models"

    @property
    def flashrank_model(self) -> str | None:
        """The model of the reranker; None without one."""
        return self.reranker.partition(":")[2] or None

    @property
    def link_base(self) -> str:
        """What links in chats begin with; no slash at the end."""
        return self.public_url or f"http://{self.host}:{self.port}"

    @property
    def secret_keys(self) -> tuple[bytes, ...]:
        """The ring: the first signs, all verify."""
        text = self.secret_key.get_secret_value() if self.secret_key else ""
        return tuple(part.strip().encode() for part in text.split(",") if part.strip())


class SettingSource:
    """Where a value came from, as `doctor` prints it."""

    ENVIRONMENT = "environment"
    TOML = TOML
    ARGUMENT = "command line"
    GENERATED = "generated in the home"
    DEFAULT = "default"


class Loaded:
    """Settings, where each came from (by the name people write), and what was set but is not read.

    `wrong`: of `surveyed_settings`, what cannot be; `settings` then has the default in its place.
    """

    def __init__(
        self,
        settings: Settings,
        sources: Mapping[str, str],
        unread: tuple[str, ...],
        wrong: tuple[InvalidSettings, ...] = (),
    ) -> None:
        self.settings, self.sources, self.unread, self.wrong = settings, sources, unread, wrong


def default_home() -> Path:
    return Path(platformdirs.user_data_dir("parley", appauthor=False))


def home_of(argument: Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """Where the home is or would be; makes none."""
    return _home(argument, dict(os.environ if environ is None else environ))[0]


def load_settings(home: Path | None = None, environ: Mapping[str, str] | None = None) -> Loaded:
    """Read, check, and make the home and its secret key where they are missing. Raises `InvalidSettings`."""
    loaded = surveyed_settings(home, environ)
    for fault in loaded.wrong:
        raise fault
    return loaded


def surveyed_settings(home: Path | None = None, environ: Mapping[str, str] | None = None) -> Loaded:
    """As `load_settings`, but goes on past each setting that cannot be. Raises `InvalidSettings` for home and file."""
    env = dict(os.environ if environ is None else environ)
    place, home_source = _home(home, env)
    _make(place)
    in_env = _from_environment(env)
    in_toml = _from_toml(place)
    given: dict[str, object] = {**in_toml, **in_env, "home": place}
    sources = dict.fromkeys(in_toml, SettingSource.TOML) | dict.fromkeys(in_env, SettingSource.ENVIRONMENT)
    sources["home"] = home_source
    wrong: list[InvalidSettings] = []
    if "secret_key" not in given and _is_shared(str(given.get("database_url", ""))):
        advice = "set the same long random text on every machine of a shared database"
        wrong.append(InvalidSettings("PARLEY_SECRET_KEY", "is not set", advice))
    elif "secret_key" not in given:
        given["secret_key"] = _generated_key(place)
        sources["secret_key"] = SettingSource.GENERATED
    settings = _checked(given, wrong)
    by_name = {written(name): sources.get(name, SettingSource.DEFAULT) for name in Settings.model_fields}
    return Loaded(settings, by_name, tuple(name for name in _NOT_YET if env.get(name)), tuple(wrong))


def written(field: str) -> str:
    """A field as people write it: `port` is `PARLEY_PORT`, `slack_bot_token` is `SLACK_BOT_TOKEN`."""
    info: FieldInfo | None = Settings.model_fields.get(field)
    alias = info.validation_alias if info else None
    return alias if isinstance(alias, str) else f"PARLEY_{field.upper()}"


def _home(argument: Path | None, env: Mapping[str, str]) -> tuple[Path, str]:
    if argument is not None:
        return argument.expanduser().absolute(), SettingSource.ARGUMENT
    if text := env.get("PARLEY_HOME"):
        return Path(text).expanduser().absolute(), SettingSource.ENVIRONMENT
    return default_home(), SettingSource.DEFAULT


def _make(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as exc:
        reason = f"points to {home}, which cannot be written ({exc.strerror})"
        raise InvalidSettings("PARLEY_HOME", reason, "choose another folder with --home, or change its rights") from exc


def _from_environment(env: Mapping[str, str]) -> dict[str, object]:
    """By field. Reads the variables that the settings name, and no others."""
    found: dict[str, object] = {}
    by_upper = {name.upper(): value for name, value in env.items()}
    for field in Settings.model_fields:
        if field != "home" and by_upper.get(written(field)):
            found[field] = by_upper[written(field)]
    return found


def _from_toml(home: Path) -> dict[str, object]:
    """By field. A key is the variable's name in any case, with or without `PARLEY_`."""
    path = home / TOML
    try:
        data = cast(dict[str, object], tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidSettings(str(path), f"cannot be read ({exc})", "correct it, or move it away") from exc
    fields = {written(field): field for field in Settings.model_fields}
    found: dict[str, object] = {}
    for key, value in data.items():
        field = fields.get(key.upper()) or fields.get(f"PARLEY_{key.upper()}")
        if field is None or field == "home":
            raise InvalidSettings(f"{key!r} in {path}", "is no setting", "see the table of settings in the README")
        found[field] = value
    return found


def _is_shared(database_url: str) -> bool:
    return database_url.startswith("postgresql")


def _generated_key(home: Path) -> str:
    """The key of this home. Of several processes that start at once, one writes it and all read the same."""
    path = home / _KEY_FILE
    if not path.exists():
        handle, name = tempfile.mkstemp(dir=home, prefix=_KEY_FILE)  # 0600
        fresh = Path(name)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            path.hardlink_to(fresh)  # fails where another was first; the content is complete when it appears
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text(encoding="ascii").strip()


def _checked(given: Mapping[str, object], wrong: list[InvalidSettings]) -> Settings:
    """Without those that cannot be, which are added to `wrong`."""
    try:
        return Settings.model_validate(given)
    except ValidationError as exc:
        faults: dict[str, str] = {}
        for one in exc.errors(include_url=False, include_input=False):
            faults.setdefault(str(one["loc"][0]), one["msg"].removeprefix("Value error, "))
    fields = {written(field): field for field in Settings.model_fields}
    bad = {fields.get(name, name): reason for name, reason in faults.items()}  # an alias stands for its field
    for field, reason in bad.items():
        advice = "correct it in the environment or parley.toml"
        wrong.append(InvalidSettings(written(field), f"is not valid ({reason})", advice))
    return Settings.model_validate({field: value for field, value in given.items() if field not in bad})
