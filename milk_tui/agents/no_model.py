"""The agent in the local role while there is nobody to fill it: says so, and what can be done."""

from collections.abc import AsyncGenerator

from milk_tui.agents.base import TurnRequest
from milk_tui.core.errors import Failure
from milk_tui.core.events import AgentEvent, AgentFailed


class NoModel:
    """Answers every prompt with the same clear failure; nothing is ever sent anywhere instead."""

    async def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Say that there is no local model."""
        yield AgentFailed(
            failure=Failure(
                kind="missing",
                sentence="There is no local model yet: no server is set and the built-in model is not here.",
                remedy="Start a model server, or run `milk-tui model pull`. Your prompt is kept.",
            )
        )

    async def close(self) -> None:
        """Nothing was started."""
