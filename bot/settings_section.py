"""Settings sections: the settings of the bot and of each adapter, whose variables `bot.settings` reads."""

from typing import TypeVar

from pydantic import AliasGenerator, BeforeValidator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict


def _split_list(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


CommaSeparated = BeforeValidator(_split_list)


class SettingsSection(BaseSettings):
    """The settings of one owner. An adapter registers its section as an entry point in `parley.settings`.

    A field's variable is its validation alias, else `PARLEY_` and its name. Every field has a default, and each is
    valid or invalid by itself.
    """

    model_config = SettingsConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda field: f"PARLEY_{field.upper()}"),
        extra="forbid",
        frozen=True,
        populate_by_name=True,
    )

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

    @classmethod
    def variable_names(cls) -> dict[str, str]:
        """The field of each variable, by the variable's name."""
        return {str(info.validation_alias): field for field, info in cls.model_fields.items()}

    def values_by_variable(self) -> dict[str, object]:
        return {name: getattr(self, field) for name, field in self.variable_names().items()}

    def find_problems(self) -> list[str]:
        """A sentence, without its full stop, about each combination of settings that cannot work."""
        return []


SectionT = TypeVar("SectionT", bound=SettingsSection)
