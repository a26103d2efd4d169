"""The settings of the Teams app. `bot.settings` reads them."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field, SecretStr

from bot.errors import InvalidSettings
from bot.public_network import is_secure_url
from bot.settings_section import CommaSeparated, SettingsSection, validate_web_url

MICROSOFT_OPENID_URL: Final = "https://login.botframework.com/v1/.well-known/openidconfiguration"
MICROSOFT_ISSUER: Final = "https://api.botframework.com"
MICROSOFT_LOGIN_URL: Final = "https://login.microsoftonline.com"
_TENANT_ADVICE: Final = "copy the App Tenant ID from the page Configuration of the Azure Bot"


class AppType(StrEnum):
    """How the app proves itself to Microsoft. https://learn.microsoft.com/azure/bot-service/abs-quickstart"""

    SINGLE_TENANT = "SingleTenant"
    MULTI_TENANT = "MultiTenant"
    MANAGED_IDENTITY = "UserAssignedMSI"


class TeamsSettings(SettingsSection):
    app_id: Annotated[str | None, Field(validation_alias="MICROSOFT_APP_ID")] = None
    app_password: Annotated[SecretStr | None, Field(validation_alias="MICROSOFT_APP_PASSWORD")] = None
    app_tenant: Annotated[str | None, Field(validation_alias="MICROSOFT_APP_TENANT_ID")] = None
    app_type: Annotated[AppType, Field(validation_alias="MICROSOFT_APP_TYPE")] = AppType.SINGLE_TENANT
    openid_url: Annotated[str, AfterValidator(validate_web_url), Field(validation_alias="PARLEY_TEAMS_OPENID_URL")] = (
        MICROSOFT_OPENID_URL
    )
    token_url: Annotated[str | None, Field(validation_alias="PARLEY_TEAMS_TOKEN_URL")] = None
    issuer: Annotated[str, Field(validation_alias="PARLEY_TEAMS_ISSUER")] = MICROSOFT_ISSUER
    allowed_tenants: Annotated[
        tuple[str, ...], CommaSeparated, Field(validation_alias="PARLEY_TEAMS_ALLOWED_TENANTS")
    ] = ()
    developer_name: Annotated[
        Annotated[str, Field(max_length=32)] | None, Field(validation_alias="PARLEY_TEAMS_DEVELOPER_NAME")
    ] = None
    website_url: Annotated[
        Annotated[str, AfterValidator(validate_web_url)] | None, Field(validation_alias="PARLEY_TEAMS_WEBSITE_URL")
    ] = None
    privacy_url: Annotated[
        Annotated[str, AfterValidator(validate_web_url)] | None, Field(validation_alias="PARLEY_TEAMS_PRIVACY_URL")
    ] = None
    terms_url: Annotated[
        Annotated[str, AfterValidator(validate_web_url)] | None, Field(validation_alias="PARLEY_TEAMS_TERMS_URL")
    ] = None

    @property
    def is_configured(self) -> bool:
        """Whether there is an app: by its id."""
        return self.app_id is not None

    @property
    def accepted_tenants(self) -> frozenset[str]:
        """The tenants whose people may ask: those of the setting, else the app's own."""
        return frozenset(self.allowed_tenants or ((self.app_tenant,) if self.app_tenant else ()))

    @property
    def has_secure_token_url(self) -> bool:
        """Whether the secret goes over https or stays on this machine. A managed identity sends no secret."""
        if self.token_url is None or self.app_type is AppType.MANAGED_IDENTITY:
            return True
        return is_secure_url(self.token_url, allows_loopback=True)

    @property
    def has_worker_surface(self) -> bool:
        return self.is_configured and not self.find_problems()

    def find_problems(self) -> list[str]:
        if self.app_id is None and self.app_password is not None:
            return ["Teams needs MICROSOFT_APP_ID together with MICROSOFT_APP_PASSWORD; set both or neither"]
        return [str(error).removesuffix(".") for error in self.list_missing_settings()]

    def list_missing_settings(self) -> list[InvalidSettings]:
        """What the app cannot work without. Empty where there is no app."""
        if self.app_id is None:
            return []
        missing: list[InvalidSettings] = []
        if self.app_type is not AppType.MANAGED_IDENTITY and self.app_password is None:
            reason = f"is not set, which an app of type {self.app_type} needs"
            missing.append(InvalidSettings("MICROSOFT_APP_PASSWORD", reason, "copy the value behind Manage Password"))
        if self.app_type is AppType.SINGLE_TENANT and self.token_url is None and not self.app_tenant:
            reason = f"is not set, where an app of type {self.app_type} gets its token"
            missing.append(InvalidSettings("MICROSOFT_APP_TENANT_ID", reason, _TENANT_ADVICE))
        elif not self.accepted_tenants:
            reason = "is not set, and neither is PARLEY_TEAMS_ALLOWED_TENANTS, so no message would be accepted"
            missing.append(InvalidSettings("MICROSOFT_APP_TENANT_ID", reason, _TENANT_ADVICE))
        return missing
