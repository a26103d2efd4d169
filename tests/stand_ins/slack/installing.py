"""How a person installs the app: they approve what it asks for, and are sent back to it with a code."""

from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.stand_ins.slack.fields import NotPossible
from tests.stand_ins.slack.state import Code, Installation, State
from tests.stand_ins.slack.workspace import User, Workspace

_PATH: Final = "/oauth/v2/authorize"


class Installing(State):
    def add_workspace(self, place: Workspace) -> Workspace:
        """Another one, in which the app is not installed yet."""
        self.others.append(place)
        return place

    def authorize(self, url: str, user: User, *, org_wide: bool = False) -> str:
        """The address that Slack sends the browser to once the person has approved what the app's page asks for.

        Raises `NotPossible` for a request that Slack shows an error page for.
        """
        asked = urlsplit(url)
        fields = {name: values[0] for name, values in parse_qs(asked.query).items()}
        place, back = self.home_of(user), fields.get("redirect_uri", "")
        scopes = frozenset(one for one in fields.get("scope", "").split(",") if one)
        if asked.path != _PATH or fields.get("client_id") != self.client_id:
            raise NotPossible("invalid_client_id")
        if not any(back.startswith(known) for known in self.redirect_urls):
            raise NotPossible("redirect_uri did not match any configured URIs")
        if not scopes or not scopes <= self.scopes | self.optional_scopes:
            raise NotPossible(f"invalid_scope: {sorted(scopes - self.scopes)}")
        if org_wide and place.enterprise is None:
            raise NotPossible("not an organisation")
        grants = Installation(place=place, is_org_wide=org_wide, scopes=scopes, user=user.id)
        code = f"{self.next_id()}.code"
        self.codes[code] = Code(grants=grants, redirect_uri=back, made=self.clock())
        return f"{back}?{urlencode({'code': code, 'state': fields.get('state', '')})}"

    def install(self, place: Workspace, token: str, *, org_wide: bool = False) -> str:
        """Without the browser: the token works at once, with all scopes of the manifest."""
        self.installations[token] = Installation(place=place, is_org_wide=org_wide)
        return token
