"""One task, several at once, and how a task is described to the library: `Task`, `Group`."""
from __future__ import annotations

import struct
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._arrays import address
from ._ffi import ffi
from ._given import listed
from ._library import Error, Status, Unique, lib

if TYPE_CHECKING:
    from .runtime import Runtime


class Items:
    """The description of a task: an array of struct heddle_item, packed in one go, which is quicker than field by
    field."""

    __slots__ = ("_numbers", "_kept")

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._kept: list[Any] = []

    def add(self, what: int, number: int = 0, pointer: int = 0, size: int = 0) -> None:
        """Adds an item."""
        self._numbers += (what, number, pointer, size)

    def add_bytes(self, what: int, content: bytes) -> None:
        """Adds an item with a copy of these bytes."""
        self._kept.append(ffi.from_buffer(content))
        self.add(what, 0, address(self._kept[-1]), len(content))

    def submit(self, runtime: Any) -> int:
        """Submits the task."""
        n = len(self._numbers) // 4
        packed = struct.pack("iiQQ" * n, *self._numbers)
        return lib.heddle_submit_items(runtime, n, ffi.from_buffer("struct heddle_item[]", packed))


def tasks_of(after: Any) -> list[Task]:
    """What `after` says: tasks. TypeError: it says something else."""
    tasks = [after] if isinstance(after, Task) else listed(after, "after")
    for task in tasks:
        if not isinstance(task, Task):
            raise TypeError(f"after is a task that submit has returned, or several, not {task!r}")
    return tasks


def same_runtime(runtime: Runtime, other: Runtime, what: str) -> None:
    """Error: a task or group is of another runtime, which may have been closed."""
    if other is not runtime:
        raise Error(Status.INVALID, f"{what} belongs to another runtime")


class Outcome:
    """The exception by which a task has failed, once it has. Lives as long as somebody may be told of it."""

    __slots__ = ("error", "__weakref__")

    def __init__(self) -> None:
        self.error: BaseException | None = None


class Failures:
    """The first exceptions of the tasks of a group, or of those without one, until a wait has told of the first. More
    than one are kept because workers fail at the same time."""

    __slots__ = ("most", "live", "outcomes")

    def __init__(self, most: int = 64):
        self.most, self.live = most, True
        self.outcomes: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        """Notes a failure."""
        if len(self.outcomes) < self.most:
            self.outcomes.append(outcome)

    def take(self) -> list[Outcome]:
        """Those that a wait has told of."""
        taken, self.outcomes = self.outcomes, []
        return taken


class Task(Unique):
    """A submitted task. Dropping the object drops nothing but the reference: the task runs all the same."""

    __slots__ = ("_runtime", "_pointer", "_outcome", "__weakref__")

    def __init__(self, runtime: Runtime, pointer: Any, outcome: Outcome | None):
        self._runtime, self._pointer, self._outcome = runtime, pointer, outcome

    def wait(self) -> None:
        """Waits until the task has ended. Raises the exception of its kernel, or Error if it was cancelled. Blocks."""
        with self._runtime._inside():
            self._runtime._open()
            self._runtime._check(lib.heddle_task_wait(self._pointer))

    @property
    def done(self) -> bool:
        """Whether the task has ended."""
        with self._runtime._inside():
            self._runtime._open()
            return bool(lib.heddle_task_done(self._pointer))

    def __del__(self) -> None:
        # Any code may be interrupted by this, also a policy, which must not call the runtime.
        self._runtime._dropped.append((lib.heddle_task_release, self._pointer))


class Group(Unique):
    """Tasks that one part of a program waits for; `with rt.group() as g` waits at its end.

    Give it to submit: rt.submit(f, ..., group=g). A failure of its tasks is raised by its wait alone; if the object is
    dropped before, its tasks go on, and the runtime's wait raises it.
    """

    __slots__ = ("_runtime", "_pointer", "_failures", "__weakref__")

    def __init__(self, runtime: Runtime):
        out = ffi.new("heddle_group **")
        self._runtime, self._pointer, self._failures = runtime, None, Failures(runtime._failures.most)
        with runtime._inside():
            runtime._check(lib.heddle_group_create(runtime._open(), out))
        self._pointer = out[0]

    def wait(self) -> None:
        """Waits until all tasks of the group have ended. Blocks."""
        with self._runtime._inside():
            self._runtime._open()
            self._runtime._wait(lib.heddle_group_wait(self._pointer), self._failures)

    def cancel(self) -> int:
        """Cancels its tasks that have not begun: they are never run. Returns how many; a wait for them raises Error."""
        with self._runtime._inside():
            self._runtime._open()
            n = lib.heddle_group_cancel(self._pointer)
            self._runtime._check(n)
            if n:
                self._runtime._sweep()
        return n

    def __del__(self) -> None:
        if self._pointer is not None:  # see Task.__del__
            self._failures.live = False
            self._runtime._failures.outcomes += self._failures.take()
            self._runtime._dropped.append((lib.heddle_group_free, self._pointer))

    def __enter__(self) -> Group:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if kind is None:
            self.wait()
