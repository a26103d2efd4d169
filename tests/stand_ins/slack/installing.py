"""Installation of the app by a person: they approve its scopes and are redirected to it with a code."""

from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.stand_ins.slack.fields import ActionNotPossible
from tests.stand_ins.slack.state import OAuthCode, SlackState, TokenInstallation
from tests.stand_ins.slack.workspace import SlackMember, StandInWorkspace

_PATH: Final = "/oauth/v2/authorize"


class InstallationActions(SlackState):
    def add_workspace(self, workspace: StandInWorkspace) -> StandInWorkspace:
        """Add a workspace without an installation of the app."""
        self.other_workspaces.append(workspace)
        return workspace

    def authorize_app(self, url: str, user: SlackMember, *, org_wide: bool = False) -> str:
        """Approve the scopes that the app's page requests; return the address of Slack's redirect.

        Raises `ActionNotPossible` where Slack shows an error page.
        """
        page_url = urlsplit(url)
        fields = {name: values[0] for name, values in parse_qs(page_url.query).items()}
        workspace, redirect_uri = self.workspace_of_user(user), fields.get("redirect_uri", "")
        scopes = frozenset(scope for scope in fields.get("scope", "").split(",") if scope)
        if page_url.path != _PATH or fields.get("client_id") != self.client_id:
            raise ActionNotPossible("invalid_client_id")
        if not any(redirect_uri.startswith(prefix) for prefix in self.redirect_urls):
            raise ActionNotPossible("redirect_uri did not match any configured URIs")
        if not scopes or not scopes <= self.scopes | self.optional_scopes:
            raise ActionNotPossible(f"invalid_scope: {sorted(scopes - self.scopes)}")
        if org_wide and workspace.enterprise is None:
            raise ActionNotPossible("not an organisation")
        grants = TokenInstallation(workspace=workspace, is_org_wide=org_wide, scopes=scopes, user=user.id)
        code = f"{self.next_id()}.code"
        self.codes[code] = OAuthCode(installation=grants, redirect_uri=redirect_uri, created_at_s=self.clock())
        return f"{redirect_uri}?{urlencode({'code': code, 'state': fields.get('state', '')})}"

    def install_with_token(self, workspace: StandInWorkspace, token: str, *, org_wide: bool = False) -> str:
        """Install the app without a browser. The token works at once, with all scopes of the manifest."""
        self.installations[token] = TokenInstallation(workspace=workspace, is_org_wide=org_wide)
        return token
