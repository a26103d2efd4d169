"""Reads the environment; no other module does. Its variables override `parley.toml` in the home, which overrides the
defaults.
"""

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

from bot.access.subjects import parse_person
from bot.errors import InvalidSettings, InvalidSubject
from bot.ids import PersonId

SETTINGS_FILE = "parley.toml"
_KEY_FILE = "secret.key"
_FLASHRANK_PATTERN = re.compile(r"flashrank:(\w[\w.-]*)")  # the model's name is a folder name
# Documented variables that this version does not read yet; `doctor` reports them when they are set.
_UNSUPPORTED_VARIABLES = ("PARLEY_MODEL", "PARLEY_MODEL_SMALL", "PARLEY_MODEL_FALLBACKS", "PARLEY_MODEL_API_BASE",
            "PARLEY_MODEL_API_KEY", "PARLEY_TEAMS_OPENID_URL", "PARLEY_TEAMS_TOKEN_URL", "PARLEY_TEAMS_ISSUER",
            "PARLEY_TEAMS_ALLOWED_TENANTS")  # fmt: skip


def _split_list(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _validate_person(text: str) -> PersonId:
    try:
        return parse_person(text)
    except InvalidSubject as exc:
        raise ValueError(str(exc)) from exc


def _validate_account(text: str) -> str:
    product, _, rest = text.partition(":")
    if product not in ("slack", "teams") or not rest:
        raise ValueError(f"{text!r} is neither slack:TEAM nor teams:TENANT")
    return text


def _validate_web_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("it does not begin with http:// or https://")
    return url.rstrip("/")


def _validate_index_url(url: str) -> str:
    addresses = url.split(",")
    if url != "embedded:" and not all(address.strip().startswith(("http://", "https://")) for address in addresses):
        raise ValueError("it is neither embedded: nor http(s)://host:9200")
    return url


def _validate_database_url(url: str) -> str:
    if not url.startswith(("sqlite:", "postgresql:", "postgresql+asyncpg:")):
        raise ValueError("it begins neither with postgresql:// nor with sqlite:///")
    return url


def _validate_reranker(name: str) -> str:
    if name and not _FLASHRANK_PATTERN.fullmatch(name):
        raise ValueError("it is neither empty nor flashrank:MODEL")
    return name


def _validate_key_ring(keys: SecretStr) -> SecretStr:
    if not any(part.strip() for part in keys.get_secret_value().split(",")):
        raise ValueError("it holds no key")
    return keys


def _validate_slack_bot(text: str) -> str:
    if re.fullmatch(r"[AB][A-Z0-9]+", text) is None:
        raise ValueError(f"{text!r} is no app's id (A0123) and no bot's (B0123)")
    return text


def _validate_slack_api(url: str) -> str:
    if not url.endswith("/api/"):
        raise ValueError("it does not end in /api/")
    return url


CommaSeparated = BeforeValidator(_split_list)


class Settings(BaseSettings):
    """All settings, validated. Build it with `load_settings`."""

    model_config = SettingsConfigDict(
        env_prefix="PARLEY_", env_ignore_empty=True, extra="forbid", frozen=True, populate_by_name=True
    )

    home: Path
    database_url: Annotated[str, AfterValidator(_validate_database_url)] | None = None
    index_url: Annotated[str, AfterValidator(_validate_index_url)] = "embedded:"
    index_user: str | None = None
    index_password: SecretStr | None = None
    index_ca: Path | None = None
    embedder: Literal["wordllama", "none"] = "wordllama"
    reranker: Annotated[str, AfterValidator(_validate_reranker)] = ""
    overload_limit: Annotated[int, Field(ge=1)] = 100
    read_limit: Annotated[int, Field(ge=1)] = 20
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    public_url: Annotated[str, AfterValidator(_validate_web_url)] | None = None
    secret_key: Annotated[SecretStr, AfterValidator(_validate_key_ring)] | None = None
    workers: Annotated[int, Field(ge=0, le=16)] = 1
    tenant: Annotated[str, Field(min_length=1)] = "default"
    accounts: Annotated[tuple[Annotated[str, AfterValidator(_validate_account)], ...], NoDecode, CommaSeparated] = ()
    admins: Annotated[tuple[Annotated[PersonId, AfterValidator(_validate_person)], ...], NoDecode, CommaSeparated] = ()
    web_token: SecretStr | None = None
    slack_bot_token: Annotated[SecretStr | None, Field(validation_alias="SLACK_BOT_TOKEN")] = None
    slack_signing_secret: Annotated[SecretStr | None, Field(validation_alias="SLACK_SIGNING_SECRET")] = None
    slack_app_token: Annotated[SecretStr | None, Field(validation_alias="SLACK_APP_TOKEN")] = None
    slack_client_id: Annotated[str | None, Field(validation_alias="SLACK_CLIENT_ID")] = None
    slack_client_secret: Annotated[SecretStr | None, Field(validation_alias="SLACK_CLIENT_SECRET")] = None
    slack_api_url: Annotated[str, AfterValidator(_validate_slack_api), Field(validation_alias="SLACK_API_URL")] = (
        "https://slack.com/api/"
    )
    slack_threads: bool = False
    slack_bots: Annotated[
        tuple[Annotated[str, AfterValidator(_validate_slack_bot)], ...], NoDecode, CommaSeparated
    ] = ()
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
        """Only the values that `load_settings` passes. It reads the sources itself, to know the origin
        of each value.
        """
        return (init_settings,)

    @property
    def effective_database_url(self) -> str:
        """The URL of the database; the SQLite file in the home where none is set."""
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
        """The model of the reranker; None where no reranker is set."""
        return self.reranker.partition(":")[2] or None

    @property
    def link_base(self) -> str:
        """The start of links in chats, without a slash at the end."""
        return self.public_url or f"http://{self.host}:{self.port}"

    @property
    def secret_keys(self) -> tuple[bytes, ...]:
        """The key ring: the first key signs, every key verifies."""
        text = self.secret_key.get_secret_value() if self.secret_key else ""
        return tuple(part.strip().encode() for part in text.split(",") if part.strip())


class SettingSource:
    """The origin of a value, as `doctor` prints it."""

    ENVIRONMENT = "environment"
    TOML = SETTINGS_FILE
    ARGUMENT = "command line"
    GENERATED = "generated in the home"
    DEFAULT = "default"


class LoadedSettings:
    """The settings, the origin of each (by variable name), and the variables that are set but not read.

    `errors`: from `survey_settings`, the invalid settings; `settings` then has their defaults.
    """

    def __init__(
        self,
        settings: Settings,
        sources: Mapping[str, str],
        unsupported: tuple[str, ...],
        errors: tuple[InvalidSettings, ...] = (),
    ) -> None:
        self.settings, self.sources, self.unsupported, self.errors = settings, sources, unsupported, errors


def default_home() -> Path:
    return Path(platformdirs.user_data_dir("parley", appauthor=False))


def resolve_home(argument: Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """The path of the home; does not create it."""
    return _resolve_home_source(argument, dict(os.environ if environ is None else environ))[0]


def load_settings(home: Path | None = None, environ: Mapping[str, str] | None = None) -> LoadedSettings:
    """Reads and validates the settings; creates the home and its secret key where they are missing. Raises
    `InvalidSettings`.
    """
    loaded = survey_settings(home, environ)
    for error in loaded.errors:
        raise error
    return loaded


def survey_settings(home: Path | None = None, environ: Mapping[str, str] | None = None) -> LoadedSettings:
    """Like `load_settings`, but continues after an invalid setting. Raises `InvalidSettings` only for the home and the
    file.
    """
    env = dict(os.environ if environ is None else environ)
    home_path, home_source = _resolve_home_source(home, env)
    _create_home(home_path)
    in_env = _read_environment(env)
    in_toml = _read_settings_file(home_path)
    values: dict[str, object] = {**in_toml, **in_env, "home": home_path}
    sources = dict.fromkeys(in_toml, SettingSource.TOML) | dict.fromkeys(in_env, SettingSource.ENVIRONMENT)
    sources["home"] = home_source
    errors: list[InvalidSettings] = []
    if "secret_key" not in values and _is_shared(str(values.get("database_url", ""))):
        advice = "set the same long random text on every machine of a shared database"
        errors.append(InvalidSettings("PARLEY_SECRET_KEY", "is not set", advice))
    elif "secret_key" not in values:
        values["secret_key"] = _load_or_create_key(home_path)
        sources["secret_key"] = SettingSource.GENERATED
    settings = _validate_settings(values, errors)
    source_by_variable = {
        variable_name_of(name): sources.get(name, SettingSource.DEFAULT) for name in Settings.model_fields
    }
    return LoadedSettings(
        settings, source_by_variable, tuple(name for name in _UNSUPPORTED_VARIABLES if env.get(name)), tuple(errors)
    )


def variable_name_of(field: str) -> str:
    """The variable of a field: `port` is `PARLEY_PORT`, `slack_bot_token` is `SLACK_BOT_TOKEN`."""
    info: FieldInfo | None = Settings.model_fields.get(field)
    alias = info.validation_alias if info else None
    return alias if isinstance(alias, str) else f"PARLEY_{field.upper()}"


def _resolve_home_source(argument: Path | None, env: Mapping[str, str]) -> tuple[Path, str]:
    if argument is not None:
        return argument.expanduser().absolute(), SettingSource.ARGUMENT
    if text := env.get("PARLEY_HOME"):
        return Path(text).expanduser().absolute(), SettingSource.ENVIRONMENT
    return default_home(), SettingSource.DEFAULT


def _create_home(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as exc:
        reason = f"points to {home}, which cannot be written ({exc.strerror})"
        raise InvalidSettings("PARLEY_HOME", reason, "choose another folder with --home, or change its rights") from exc


def _read_environment(env: Mapping[str, str]) -> dict[str, object]:
    """The values by field. Reads only the variables of the settings."""
    values: dict[str, object] = {}
    by_upper = {name.upper(): value for name, value in env.items()}
    for field in Settings.model_fields:
        if field != "home" and by_upper.get(variable_name_of(field)):
            values[field] = by_upper[variable_name_of(field)]
    return values


def _read_settings_file(home: Path) -> dict[str, object]:
    """The values by field. A key is the variable's name in any case, with or without `PARLEY_`."""
    path = home / SETTINGS_FILE
    try:
        data = cast(dict[str, object], tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidSettings(str(path), f"cannot be read ({exc})", "correct it, or move it away") from exc
    fields = {variable_name_of(field): field for field in Settings.model_fields}
    values: dict[str, object] = {}
    for key, value in data.items():
        field = fields.get(key.upper()) or fields.get(f"PARLEY_{key.upper()}")
        if field is None or field == "home":
            raise InvalidSettings(f"{key!r} in {path}", "is no setting", "see docs/reference/settings.md")
        values[field] = value
    return values


def _is_shared(database_url: str) -> bool:
    return database_url.startswith("postgresql")


def _load_or_create_key(home: Path) -> str:
    """The secret key of this home. If several processes start at once, one of them writes it and all
    read the same key.
    """
    path = home / _KEY_FILE
    if not path.exists():
        handle, name = tempfile.mkstemp(dir=home, prefix=_KEY_FILE)  # 0600
        new_path = Path(name)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            # Fails if another process was first. The key file always appears with complete content.
            path.hardlink_to(new_path)
        except FileExistsError:
            pass
        finally:
            new_path.unlink()
    return path.read_text(encoding="ascii").strip()


def _validate_settings(values: Mapping[str, object], errors: list[InvalidSettings]) -> Settings:
    """The valid settings; adds the invalid ones to `errors`."""
    try:
        return Settings.model_validate(values)
    except ValidationError as exc:
        reasons: dict[str, str] = {}
        for error in exc.errors(include_url=False, include_input=False):
            reasons.setdefault(str(error["loc"][0]), error["msg"].removeprefix("Value error, "))
    fields = {variable_name_of(field): field for field in Settings.model_fields}
    invalid_fields = {fields.get(name, name): reason for name, reason in reasons.items()}  # a name may be an alias
    for field, reason in invalid_fields.items():
        advice = "correct it in the environment or parley.toml"
        errors.append(InvalidSettings(variable_name_of(field), f"is not valid ({reason})", advice))
    return Settings.model_validate({field: value for field, value in values.items() if field not in invalid_fields})
