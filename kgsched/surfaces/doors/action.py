"""One thing that can be asked through a door, and the tools that are made of such things."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, Field, TypeAdapter, create_model

from kgsched.app import Kgsched
from kgsched.core.access import Caller, Scope
from kgsched.errors import Forbidden
from kgsched.operations.facade import Operations
from kgsched.surfaces.doors.fields import Answer, Arguments


class Desk:
    """What an action is given: who asks, and the operations as they may see them.

    mark: what stands for this request when it is sent again, where a client gave it a key.
    """

    def __init__(self, app: Kgsched, caller: Caller, mark: str | None = None) -> None:
        self.app, self.caller, self.mark = app, caller, mark

    @cached_property
    def operations(self) -> Operations:
        return self.app.operations_of(self.caller)

    async def need(self, scope: Scope, change: str | None = None) -> None:
        """Raises Forbidden unless the caller has the scope; the attempt at a change is kept in the audit."""
        try:
            self.caller.need(scope)
        except Forbidden as error:
            if change is not None:
                await self.operations.audit.record(change, "", "refused", str(error))
            raise


Run = Callable[[Desk, Any], Awaitable[Any]]
_NOUNS = {  # as the audit knows what was done
    Scope.WRITE_TASK: "tasks",
    Scope.WRITE_WORK_ITEM: "tasks",
    Scope.WRITE_SCHEDULE: "schedules",
    Scope.WRITE_WORKER: "cluster",
    Scope.WRITE_ADMIN: "jobs",
}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be asked.

    reads: it changes nothing. destroys: it can undo work. repeatable: asking twice comes to the same as asking once.
    """

    name: str
    summary: str
    arguments: type[Arguments]
    answer: type[Answer]
    scope: Scope
    run: Run
    reads: bool = False
    destroys: bool = False
    repeatable: bool = False

    async def __call__(self, desk: Desk, given: Arguments) -> Answer:
        """Carry it out. Raises Forbidden, and what the operation raises."""
        await desk.need(self.scope, None if self.reads else f"{_NOUNS[self.scope]}.{self.name}")
        return self.answer.model_validate(await self.run(desk, given), from_attributes=True)


class Tool:
    """One action under its own name, or several that `action` chooses among. Mounted as it is on every door."""

    def __init__(self, name: str, title: str, description: str, *actions: Action, chooses: bool = False) -> None:
        self.name, self.title, self.actions, self.chooses = name, title, actions, chooses
        lines = [f"- {one.name}: {one.summary}" for one in actions]
        self.description = f"{description}\nActions:\n" + "\n".join(lines) if chooses else description

    @cached_property
    def models(self) -> Mapping[str, type[Arguments]]:
        """What may be sent, by action; with the field `action` where there is a choice."""
        return {one.name: self._with_action(one) if self.chooses else one.arguments for one in self.actions}

    @cached_property
    def body(self) -> Any:
        """The type of all that may be sent."""
        models = tuple(self.models.values())
        if not self.chooses:
            return models[0]
        return Annotated[Union[models], Field(discriminator="action")]  # noqa: UP007 - made while running

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.body)

    @cached_property
    def answer(self) -> type[BaseModel]:
        """The type of all that may come back."""
        if not self.chooses:
            return self.actions[0].answer
        kinds: dict[str, Any] = {}
        for one in self.actions:
            for name, field in one.answer.model_fields.items():
                kinds[name] = field.annotation if name not in kinds else kinds[name] | field.annotation
        fields: dict[str, Any] = {name: (kind | None, None) for name, kind in kinds.items()}
        title = "".join(part.title() for part in self.name.split("_"))
        return create_model(f"{title}Answer", __doc__="Fields by action.", action=(str, ...), **fields)

    def may(self, caller: Caller) -> bool:
        """Whether the caller may use it at all."""
        return any(one.scope in caller.scopes for one in self.actions)

    async def __call__(self, desk: Desk, given: Any) -> dict[str, Any]:
        """Carry out what was sent (an instance of one of the models)."""
        action = self._chosen(given)
        answer = (await action(desk, given)).model_dump(mode="json")
        return {"action": action.name, **answer} if self.chooses else answer

    def _chosen(self, given: Any) -> Action:
        if not self.chooses:
            return self.actions[0]
        return next(one for one in self.actions if one.name == given.action)

    def _with_action(self, one: Action) -> type[Arguments]:
        title = "".join(part.title() for part in f"{self.name}_{one.name}".split("_"))
        choice: Any = (Literal[one.name], ...)
        return create_model(title, __base__=one.arguments, __doc__=one.summary, action=choice)
