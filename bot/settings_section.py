"""Settings sections: the settings of the bot and of each adapter, whose variables `bot.settings` reads."""

from typing import TypeVar

from pydantic import AliasGenerator, BaseModel, BeforeValidator, ConfigDict


def _split_list(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


CommaSeparated = BeforeValidator(_split_list)


def validate_web_url(url: str) -> str:
    """Returns the URL without a slash at the end. Raises `ValueError`."""
    if not url.startswith(("http://", "https://")):
        raise ValueError("it does not begin with http:// or https://")
    return url.rstrip("/")


class SettingsSection(BaseModel):
    """The settings of one owner. An adapter registers its section as an entry point in `parley.settings`.

    A field's variable is its validation alias, else `PARLEY_` and its name. Every field has a default, and each is
    valid or invalid by itself.
    """

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda field: f"PARLEY_{field.upper()}"),
        extra="forbid",
        frozen=True,
        populate_by_name=True,
    )

    @classmethod
    def fields_by_variable(cls) -> dict[str, str]:
        """The field of each variable, by the variable's name."""
        return {str(info.validation_alias): field for field, info in cls.model_fields.items()}

    def values_by_variable(self) -> dict[str, object]:
        return {name: getattr(self, field) for name, field in self.fields_by_variable().items()}

    def find_problems(self) -> list[str]:
        """A sentence, without its full stop, about each combination of settings that cannot work."""
        return []

    @property
    def is_configured(self) -> bool:
        """Whether these settings ask for the surface of their entry point. If not, its module is not imported."""
        return True

    @property
    def has_worker_surface(self) -> bool:
        """Whether these settings configure a surface whose turns worker processes answer."""
        return False


SectionT = TypeVar("SectionT", bound=SettingsSection)
