"""Reads the environment; no other module does. Its variables override `parley.toml` in the home, which overrides the
defaults.
"""

import os
import re
import secrets
import tempfile
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Literal, cast

import platformdirs
from pydantic import AfterValidator, Field, SecretStr, ValidationError

from agent.gateway.options import GatewayOptions, ModelServer
from bot.access.subjects import parse_person
from bot.errors import InvalidSettings, InvalidSubject
from bot.health.retention_rules import DocumentRule, parse_document_rule, validate_document_rule
from bot.ids import PersonId
from bot.model_settings import LanguageModelSettings
from bot.settings_section import CommaSeparated, SectionT, SettingsSection, validate_web_url
from bot.web_search.settings import WebSearchSettings
from storage.ingest.limits import DEFAULT_PASSAGE_CHARACTERS, MAX_PASSAGE_CHARACTERS, MIN_PASSAGE_CHARACTERS

SETTINGS_FILE = "parley.toml"
EMBEDDED_INDEX_URL = "embedded:"
MAX_INDEX_SHARDS = 64  # of a bucket
SECTIONS_GROUP = "parley.settings"  # the entry points of the adapters' sections
_KEY_FILE = "secret.key"
_FILE_SUFFIX = "_FILE"
_HOME_VARIABLE, _KEY_VARIABLE = "PARLEY_HOME", "PARLEY_SECRET_KEY"
_OWN_EMBEDDERS = ("wordllama", "none")
_MODEL_PATTERN = re.compile(r"[\w.-]+/\S+")  # as litellm names models
_AWS_REGION_PATTERN = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d")
_RERANKER_PATTERN = re.compile(r"(?:cohere|jina_ai|hosted_vllm|infinity)/\S+")  # litellm reranks with these
_FLASHRANK_PATTERN = re.compile(r"flashrank:(\w[\w.-]*)")  # the model's name is a folder name


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


def _validate_index_url(url: str) -> str:
    addresses = url.split(",")
    if url != EMBEDDED_INDEX_URL and not all(
        address.strip().startswith(("http://", "https://")) for address in addresses
    ):
        raise ValueError("it is neither embedded: nor http(s)://host:9200")
    return url


def _validate_aws_region(name: str) -> str:
    if not _AWS_REGION_PATTERN.fullmatch(name):
        raise ValueError("it is not the name of a region, such as eu-central-1")
    return name


def _validate_database_url(url: str) -> str:
    if not url.startswith(("sqlite:", "postgresql:", "postgresql+asyncpg:")):
        raise ValueError("it begins neither with postgresql:// nor with sqlite:///")
    return url


def _validate_reranker(name: str) -> str:
    if name and not _FLASHRANK_PATTERN.fullmatch(name) and not _RERANKER_PATTERN.fullmatch(name):
        raise ValueError(
            "it is neither empty nor flashrank:MODEL nor PROVIDER/MODEL"
            " with cohere, jina_ai, hosted_vllm or infinity as the provider"
        )
    return name


def _validate_embedder(name: str) -> str:
    if name not in _OWN_EMBEDDERS and not _MODEL_PATTERN.fullmatch(name):
        raise ValueError("it is neither 'wordllama' or 'none' nor an embedding model as PROVIDER/MODEL")
    return name


def _validate_key_ring(keys: SecretStr) -> SecretStr:
    if not any(part.strip() for part in keys.get_secret_value().split(",")):
        raise ValueError("it holds no key")
    return keys


class Settings(SettingsSection):
    """The settings of the bot itself, and the other sections. Build it with `load_settings`."""

    home: Path
    database_url: Annotated[str, AfterValidator(_validate_database_url)] | None = None
    index_url: Annotated[str, AfterValidator(_validate_index_url)] = EMBEDDED_INDEX_URL
    index_user: str | None = None
    index_password: SecretStr | None = None
    index_api_key: SecretStr | None = None
    index_aws_region: Annotated[str, AfterValidator(_validate_aws_region)] | None = None
    index_ca: Path | None = None
    index_scanned_passages: Annotated[int, Field(ge=0)] = 300_000  # a rebuild of more stores vectors in a graph
    index_shards: Annotated[int, Field(ge=1, le=MAX_INDEX_SHARDS)] = 1  # of the index of a new bucket
    index_shared_from: Annotated[int, Field(ge=0)] = 200  # buckets; beyond, small ones share an index
    embedder: Annotated[str, AfterValidator(_validate_embedder)] = "wordllama"
    embedder_dimensions: Annotated[int, Field(ge=1, le=16_000)] | None = None
    embedder_api_base: Annotated[str, AfterValidator(validate_web_url)] | None = None
    embedder_api_key: SecretStr | None = None
    passage_characters: Annotated[int, Field(ge=MIN_PASSAGE_CHARACTERS, le=MAX_PASSAGE_CHARACTERS)] = (
        DEFAULT_PASSAGE_CHARACTERS
    )
    reranker: Annotated[str, AfterValidator(_validate_reranker)] = ""
    reranker_api_base: Annotated[str, AfterValidator(validate_web_url)] | None = None
    reranker_api_key: SecretStr | None = None
    overload_limit: Annotated[int, Field(ge=1)] = 100
    read_limit: Annotated[int, Field(ge=1)] = 20
    answer_timeout: Annotated[float, Field(ge=1, le=300)] = 60.0  # seconds for a whole question
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    public_url: Annotated[str, AfterValidator(validate_web_url)] | None = None
    secret_key: Annotated[SecretStr, AfterValidator(_validate_key_ring)] | None = None
    workers: Annotated[int, Field(ge=0, le=16)] = 1
    stop_timeout: Annotated[float, Field(ge=1, le=3600)] = 20.0  # seconds from the signal to end to the end
    log: Literal["file", "stderr"] = "file"
    trace_endpoint: Annotated[
        Annotated[str, AfterValidator(validate_web_url)] | None, Field(validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    ] = None
    tenant: Annotated[str, Field(min_length=1)] = "default"
    accounts: Annotated[tuple[Annotated[str, AfterValidator(_validate_account)], ...], CommaSeparated] = ()
    admins: Annotated[tuple[Annotated[PersonId, AfterValidator(_validate_person)], ...], CommaSeparated] = ()
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None  # of turns; without it they stay
    document_retention: Annotated[
        tuple[Annotated[str, AfterValidator(validate_document_rule)], ...], CommaSeparated
    ] = ()
    link_by_email: bool = False
    pictures: bool = True  # beside the tables of groups and of change over time
    web_token: SecretStr | None = None
    metrics_token: SecretStr | None = None
    _sections: tuple[SettingsSection, ...] = ()

    def with_sections(self, sections: Sequence[SettingsSection]) -> "Settings":
        """The same settings with these further sections."""
        settings = self.model_copy()
        settings._sections = tuple(sections)
        return settings

    @property
    def sections(self) -> tuple[SettingsSection, ...]:
        """These settings, then the sections of the language model, the web search and the adapters."""
        return (self, *self._sections)

    @property
    def model(self) -> LanguageModelSettings:
        """The settings of the language model; their defaults where they were not loaded."""
        sections = (section for section in self._sections if isinstance(section, LanguageModelSettings))
        return next(sections, LanguageModelSettings())

    @property
    def web_search(self) -> WebSearchSettings:
        """The settings of the web search; their defaults where they were not loaded."""
        sections = (section for section in self._sections if isinstance(section, WebSearchSettings))
        return next(sections, WebSearchSettings())

    def section(self, section_type: type[SectionT]) -> SectionT:
        """The section of this type. Raises `LookupError` where no adapter registers it."""
        for section in self._sections:
            if isinstance(section, section_type):
                return section
        raise LookupError(f"{section_type.__name__} is not an entry point in {SECTIONS_GROUP}")

    def without_model(self) -> "Settings":
        """The same settings with the rules alone."""
        others = [section for section in self._sections if not isinstance(section, LanguageModelSettings)]
        return self.with_sections([LanguageModelSettings(), *others])

    @property
    def effective_database_url(self) -> str:
        """The URL of the database; the SQLite file in the home where none is set."""
        from storage.sql.database_url import sqlite_url_for

        return self.database_url or sqlite_url_for(self.home / "parley.db")

    @property
    def document_rules(self) -> tuple[DocumentRule, ...]:
        """How long the documents of buckets are kept."""
        return tuple(map(parse_document_rule, self.document_retention))

    @property
    def logs_to_stderr(self) -> bool:
        return self.log == "stderr"

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
        """The model that runs in FlashRank; None where it does not rerank."""
        return self.reranker.removeprefix("flashrank:") if self.reranker.startswith("flashrank:") else None

    @property
    def reranking_model(self) -> str | None:
        """The model of the gateway that reranks; None where none does."""
        return self.reranker if self.reranker and self.flashrank_model is None else None

    @property
    def embedding_model(self) -> str | None:
        """The model of the gateway that embeds; None where none does."""
        return None if self.embedder in _OWN_EMBEDDERS else self.embedder

    @property
    def needs_gateway(self) -> bool:
        """Whether any model is used that is not in this process."""
        return self.model.is_used or self.embedding_model is not None or self.reranking_model is not None

    @property
    def gateway_options(self) -> GatewayOptions:
        """The models of all roles. Without an address or key of their own, they have those of the language model."""
        options = self.model.gateway_options
        names = {"embedding": self.embedding_model or "", "rerank": self.reranking_model or ""}
        own_servers = {
            self.embedding_model: (self.embedder_api_base, self.embedder_api_key),
            self.reranking_model: (self.reranker_api_base, self.reranker_api_key),
        }
        servers = {
            model: ModelServer(api_base=api_base or "", api_key=key.get_secret_value() if key else "")
            for model, (api_base, key) in own_servers.items()
            if model is not None and (api_base or key)
        }
        return replace(
            options,
            models=replace(options.models, **names),
            servers={**options.servers, **servers},
            embedding_dimensions=self.embedder_dimensions,
        )

    def find_problems(self) -> list[str]:
        return [*self._find_problems_of_index(), *self._find_problems_of_models()]

    def _find_problems_of_index(self) -> list[str]:
        ways = {
            "PARLEY_INDEX_USER": self.index_user,
            "PARLEY_INDEX_API_KEY": self.index_api_key,
            "PARLEY_INDEX_AWS_REGION": self.index_aws_region,
        }
        used_way, *others = [*(name for name, value in ways.items() if value), ""]
        return [f"{used_way} is used, and not {' and '.join(others[:-1])}: set one of them"] if others[:-1] else []

    def _find_problems_of_models(self) -> list[str]:
        if not self.needs_gateway:
            return self.model.find_unused_call_settings()
        used_models = {*self.model.all_names, self.embedding_model, self.reranking_model}
        problems = [
            f"PARLEY_MODEL_PRICES has a price of {model}, which no setting names"
            for model in self.model.price_by_model
            if model not in used_models
        ]
        if self.model.is_used and self.model.timeout > self.answer_timeout:
            problems.append(
                f"PARLEY_MODEL_TIMEOUT allows {self.model.timeout:g} s for a call, but an answer is given up after"
                f" {self.answer_timeout:g} s (PARLEY_ANSWER_TIMEOUT)"
            )
        return problems

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

    `misspelled`: variables whose names are almost those of settings, with these. `errors`: from `survey_settings`, the
    invalid settings; `settings` then has their defaults.
    """

    def __init__(
        self,
        settings: Settings,
        sources: Mapping[str, str],
        errors: tuple[InvalidSettings, ...] = (),
        misspelled: Mapping[str, str] | None = None,
    ) -> None:
        self.settings, self.sources, self.errors = settings, sources, errors
        self.misspelled = misspelled or {}


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
    if loaded.errors:
        error, others = loaded.errors[0], loaded.errors[1:]
        names = ", ".join(other.setting for other in others)
        advice = f"{error.advice}, and also {names}, which parley doctor explains" if others else error.advice
        raise InvalidSettings(error.setting, error.reason, advice)
    return loaded


def survey_settings(home: Path | None = None, environ: Mapping[str, str] | None = None) -> LoadedSettings:
    """Like `load_settings`, but continues after an invalid setting. Raises `InvalidSettings` only for the home, the
    file and a variable that two sections claim.
    """
    env = dict(os.environ if environ is None else environ)
    home_path, home_source = _resolve_home_source(home, env)
    _create_home(home_path)
    section_types = _load_section_types()
    variables = _collect_variables((Settings, *section_types))
    in_env, in_toml = _read_environment(env, variables), _read_settings_file(home_path, variables)
    values: dict[str, object] = {**in_toml, **in_env, _HOME_VARIABLE: home_path}
    sources = dict.fromkeys(variables, SettingSource.DEFAULT) | dict.fromkeys(in_toml, SettingSource.TOML)
    sources |= dict.fromkeys(in_env, SettingSource.ENVIRONMENT) | {_HOME_VARIABLE: home_source}
    errors: list[InvalidSettings] = []
    _complete_secret_key(values, sources, errors, home_path)
    settings = _validate_section(Settings, values, errors)
    sections = [_validate_section(section_type, values, errors) for section_type in section_types]
    misspelled = _find_misspelled_variables(env, variables)
    return LoadedSettings(settings.with_sections(sections), sources, tuple(errors), misspelled)


def _load_section_types() -> list[type[SettingsSection]]:
    """The sections of the language model and the web search, then those of the adapters in the order of their names."""
    adapter_types = [entry_point.load() for entry_point in sorted(entry_points(group=SECTIONS_GROUP))]
    return [LanguageModelSettings, WebSearchSettings, *adapter_types]


def _collect_variables(section_types: Sequence[type[SettingsSection]]) -> Collection[str]:
    """The variables of all sections, in order. Raises `InvalidSettings` for a variable of two sections."""
    owners: dict[str, type[SettingsSection]] = {}
    for section_type in section_types:
        for name in section_type.fields_by_variable():
            owner = owners.setdefault(name, section_type)
            if owner is not section_type:
                reason = f"is claimed by {owner.__module__} and by {section_type.__module__}"
                raise InvalidSettings(name, reason, "remove one of the two adapters")
    return owners


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


def _read_environment(env: Mapping[str, str], variables: Collection[str]) -> dict[str, object]:
    """The values by variable. An empty variable counts as not set. `NAME_FILE` names a file with the value of `NAME`,
    as secrets are mounted in containers; `NAME` wins over it.

    Raises `InvalidSettings`.
    """
    by_upper = {name.upper(): value for name, value in env.items() if value}
    values: dict[str, object] = {name: by_upper[name] for name in variables if name in by_upper}
    for name in variables:
        file_variable = name + _FILE_SUFFIX
        if file_variable in by_upper and name not in values:
            values[name] = _read_secret_file(file_variable, Path(by_upper[file_variable]))
    return {name: value for name, value in values.items() if value}


def _read_secret_file(variable: str, path: Path) -> str:
    """Without spaces and line ends around it. Raises `InvalidSettings`."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        reason = f"names {path}, which cannot be read ({exc})"
        raise InvalidSettings(variable, reason, "correct it, or let Parley read the file") from exc


def _find_misspelled_variables(env: Mapping[str, str], variables: Collection[str]) -> dict[str, str]:
    """The setting that is probably meant, by the variable. Other variables that begin with PARLEY_ are not judged: a
    cluster may have set them.
    """
    known_names = {*variables, *(name + _FILE_SUFFIX for name in variables)}
    unknown_names = [name for name in env if name.upper().startswith("PARLEY_") and name.upper() not in known_names]
    matches = {name: get_close_matches(name.upper(), variables, n=1, cutoff=0.85) for name in unknown_names}
    return {name: match[0] for name, match in matches.items() if match}


def _read_settings_file(home: Path, variables: Collection[str]) -> dict[str, object]:
    """The values by variable. A key is the variable's name in any case, with or without `PARLEY_`."""
    path = home / SETTINGS_FILE
    try:
        data = cast(dict[str, object], tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidSettings(str(path), f"cannot be read ({exc})", "correct it, or move it away") from exc
    values: dict[str, object] = {}
    for key, value in data.items():
        name = key.upper() if key.upper() in variables else f"PARLEY_{key.upper()}"
        if name not in variables or name == _HOME_VARIABLE:
            raise InvalidSettings(f"{key!r} in {path}", "is not a setting", "see docs/reference/settings.md")
        values[name] = value
    return values


def _is_shared(database_url: str) -> bool:
    return database_url.startswith("postgresql")


def _complete_secret_key(
    values: dict[str, object], sources: dict[str, str], errors: list[InvalidSettings], home: Path
) -> None:
    """Adds the key of this home where none is set. A shared database needs one that is set."""
    if _KEY_VARIABLE in values:
        return
    if _is_shared(str(values.get("PARLEY_DATABASE_URL", ""))):
        advice = "set the same long random text on every machine of a shared database"
        errors.append(InvalidSettings(_KEY_VARIABLE, "is not set", advice))
        return
    values[_KEY_VARIABLE] = _load_or_create_key(home)
    sources[_KEY_VARIABLE] = SettingSource.GENERATED


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


def _validate_section(
    section_type: type[SectionT], values: Mapping[str, object], errors: list[InvalidSettings]
) -> SectionT:
    """The section with its valid settings; adds the invalid ones to `errors`."""
    own_values = {name: values[name] for name in section_type.fields_by_variable() if name in values}
    try:
        return section_type.model_validate(own_values)
    except ValidationError as exc:
        reasons: dict[str, str] = {}
        for error in exc.errors(include_url=False, include_input=False):
            message = error["msg"].removeprefix("Value error, ").replace("Input should", "it should")
            reasons.setdefault(str(error["loc"][0]), message)
    for name, reason in reasons.items():
        errors.append(InvalidSettings(name, f"is not valid ({reason})", "correct it in the environment or parley.toml"))
    return section_type.model_validate({name: value for name, value in own_values.items() if name not in reasons})
