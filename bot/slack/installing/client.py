"""The call of Slack's Web API that turns a code, or an old token, into a token of a team."""

from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse


class OAuthClient(AsyncWebClient):
    """What Bolt's flow and slack_sdk's rotation call."""

    async def oauth_v2_access(self, *, client_id: str, client_secret: str, **fields: Any) -> AsyncSlackResponse:
        """As form fields: slack_sdk's own method sends them by aiohttp's BasicAuth, which is deprecated."""
        told = {name: value for name, value in fields.items() if value is not None}
        return await self.api_call(
            "oauth.v2.access", data={"client_id": client_id, "client_secret": client_secret, **told}
        )
