"""Scheduling policies in Python: `Policy`.

The C library calls a policy under its lock, in whatever thread is there; each call takes the GIL. In virtual time that
is the thread that simulates.
"""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ._arrays import address
from ._ffi import ffi
from ._given import among
from ._library import Error, Status, check, encode, lib, said, text
from .data import Mode
from .platform import Platform


class Use(NamedTuple):
    """What a ready task does with a datum: `id` is the same for the same datum."""

    id: int
    mode: Mode
    bytes: int


class ReadyTask:
    """A task that a policy decides about, from `ready` until `pick` has returned it; from `submitted` until `ended`, if
    the policy has one of them.

    Attributes and methods ask the library, include/heddle/policy.h; what does not change is worth keeping. The object
    itself may have attributes of the policy's own: task.rank = 3.
    """

    def __init__(self, pointer: Any, state: PolicyState):
        self._pointer, self._state = pointer, state

    def _live(self) -> Any:
        if self._pointer is None or not self._state.caller:
            raise Error(Status.STATE, "a policy may ask about a task from `ready` until `pick` has returned it (from "
                                      "`submitted` until `ended`, if it has them), and in its own functions only")
        return self._pointer

    def _worker(self, number: int) -> int:
        return among(number, "worker", len(self._state.policy._platform.workers))

    def _class(self, number: int) -> int:
        return among(number, "class", len(self._state.policy._platform.classes))

    def _node(self, number: int) -> int:
        return among(number, "memory", len(self._state.policy._platform.nodes))

    @property
    def name(self) -> str:
        """The name of its codelet: "dgemm"."""
        return text(lib.heddle_codelet_name(lib.heddle_task_codelet(self._live())))

    @property
    def priority(self) -> int:
        """Larger is more urgent."""
        return lib.heddle_task_priority(self._live())

    @property
    def order(self) -> int:
        """Its number by submission: 0, 1, 2 ..."""
        return lib.heddle_task_order(self._live())

    def can_run(self, worker: int) -> bool:
        """Whether that worker can run the task."""
        return bool(lib.heddle_task_can_run(self._live(), self._worker(worker)))

    def can_run_class(self, class_id: int) -> bool:
        """Whether some worker of that class can run the task."""
        return bool(lib.heddle_task_can_run_class(self._live(), self._class(class_id)))

    def time(self, class_id: int) -> float:
        """The predicted time on a class, us; nan: unknown, or it cannot run there."""
        return lib.heddle_task_time(self._live(), self._class(class_id))

    def transfer_time(self, node: int) -> float:
        """The predicted time to bring its data to a memory, us."""
        return lib.heddle_task_transfer_time(self._live(), self._node(node))

    def missing_bytes(self, node: int) -> int:
        """The bytes of its data that a memory lacks."""
        return lib.heddle_task_missing_bytes(self._live(), self._node(node))

    def prefetch(self, node: int) -> None:
        """Starts to bring its data to a memory: a hint."""
        lib.heddle_task_prefetch(self._live(), self._node(node))

    def arrivals(self) -> list[float]:
        """For each memory, when all its data could be there if they were asked for now, us since the start."""
        us = ffi.new("double[]", len(self._state.policy._platform.nodes))
        lib.heddle_task_arrivals(self._live(), us, ffi.NULL)
        return list(us)

    def prefetch_data(self, i: int, node: int, urgency: int = 0) -> None:
        """Starts to bring its i-th datum to a memory: a hint. The most urgent ones go first."""
        t = self._live()
        i = among(i, "datum", lib.heddle_task_n_data(t))
        lib.heddle_data_prefetch(lib.heddle_task_data(t, i), self._node(node), urgency)

    def cancel_prefetch(self, i: int, node: int) -> bool:
        """Takes such a hint back. False: there is none, or the datum is needed or on its way."""
        t = self._live()
        i = among(i, "datum", lib.heddle_task_n_data(t))
        return bool(lib.heddle_data_prefetch_cancel(lib.heddle_task_data(t, i), self._node(node)))

    @property
    def data(self) -> list[Use]:
        """What it does with its data."""
        t = self._live()
        return [Use(address(d), Mode(lib.heddle_task_mode(t, i)), lib.heddle_data_bytes(d))
                for i, d in ((i, lib.heddle_task_data(t, i)) for i in range(lib.heddle_task_n_data(t)))]

    def valid_on(self, i: int, node: int) -> bool:
        """Whether a memory has a valid copy of its i-th datum."""
        t = self._live()
        i = among(i, "datum", lib.heddle_task_n_data(t))
        return bool(lib.heddle_data_valid_on(lib.heddle_task_data(t, i), self._node(node)))

    def successors(self, once: bool = True) -> list[tuple[ReadyTask, int]]:
        """The tasks submitted so far that wait directly for this one, each with how many it waited for. They are the
        objects that `submitted` has got; without it, they may be asked about in the same call of the policy only."""
        found: list[tuple[ReadyTask, int]] = []

        @ffi.callback("void(heddle_task *, unsigned, void *)")
        def add(task: Any, n_preds: int, _: Any) -> None:
            found.append((self._state.tasks.get(address(task)) or ReadyTask(task, self._state), n_preds))

        lib.heddle_task_successors(self._live(), int(once), add, ffi.NULL)
        return found


class Policy:
    """A scheduling policy: a subclass with `ready` and `pick`, which stands beside the shipped ones.

        class Stack(heddle.Policy):
            "The newest task first."
            def setup(self):
                self.tasks = []
            def ready(self, tasks, releaser):
                self.tasks += tasks
            def pick(self, worker):
                for i in reversed(range(len(self.tasks))):
                    if self.tasks[i].can_run(worker):
                        return self.tasks.pop(i)

        heddle.simulate(graph, "intel-v100", policy=Stack)

    The name is `name`, or else the class's in small letters; a class that is defined again takes the place of the one
    before. `options` are numbers that users may set, {"alpha": 0.5}: policy_options="alpha=2", self.option("alpha").
    An exception in a function of the policy ends the run, and is raised by what started or waits for it.
    A function of a policy cannot call its runtime, which waits for it: Error.
    """

    name: str = ""
    options: Mapping[str, float] = {}
    _sched: Any = None

    def setup(self) -> None:
        """Called once per run, before all others, when self.platform is known."""

    def submitted(self, task: ReadyTask) -> None:
        """The task has entered the graph, and may have to wait. Only asked for if it or `ended` is overridden."""

    def ended(self, task: ReadyTask) -> None:
        """The task leaves the graph: it has run, or was cancelled. Only asked for if it or `submitted` is
        overridden."""

    def ready(self, tasks: list[ReadyTask], releaser: int) -> None:
        """These tasks can run: because a task of worker `releaser` has ended or, if that is -1, were submitted."""
        raise NotImplementedError(f"policy {type(self).__name__} lacks ready(self, tasks, releaser)")

    def pick(self, worker: int) -> ReadyTask | None:
        """A task that the worker can run, or None. Asked again when something has changed."""
        raise NotImplementedError(f"policy {type(self).__name__} lacks pick(self, worker)")

    def started(self, task: ReadyTask, worker: int) -> None:
        """The task begins. Only asked for if it is overridden."""

    def done(self, task: ReadyTask, worker: int) -> None:
        """The task has ended on its worker. Only asked for if it is overridden."""

    def report(self) -> Mapping[str, float]:
        """Figures for Simulation.figures and `heddle sim --explain`."""
        return {}

    # What a policy may ask.

    def _asked(self) -> Any:
        if self._sched is None:
            raise Error(Status.STATE, "a policy may ask this during a run only, from its setup on")
        return self._sched

    @property
    def platform(self) -> Platform:
        """The machine to schedule on."""
        self._asked()
        return self._platform

    def _worker(self, number: int) -> int:
        return among(number, "worker", len(self._platform.workers))

    def now(self) -> float:
        """us since the start of the run."""
        return lib.heddle_sched_now(self._asked())

    def link_free_at(self, node: int) -> float:
        """When the link into a memory will have moved what is asked for, us since the start."""
        return lib.heddle_sched_link_free_at(self._asked(), among(node, "memory", len(self._platform.nodes)))

    def free_at(self, worker: int) -> float:
        """When the worker will have finished what `pick` has given it, us since the start."""
        return lib.heddle_sched_worker_free_at(self._asked(), self._worker(worker))

    def random(self) -> float:
        """A random number from 0 to below 1, from the run's seed."""
        return (lib.heddle_sched_random(self._asked()) >> 11) / (1 << 53)

    def distance(self, a: int, b: int) -> int:
        """How far apart two workers are in the machine; 0: the same."""
        return lib.heddle_sched_distance(self._asked(), self._worker(a), self._worker(b))

    def option(self, name: str) -> float:
        """The value of an option."""
        if name not in self.options:
            raise KeyError(f"policy {self.name} has no option {name}")
        return lib.heddle_sched_option(self._asked(), encode(name))

    _platform: Platform


def watches(policy: type[Policy] | Policy) -> bool:
    """Whether the policy has a function for tasks that are submitted or end."""
    made = policy if isinstance(policy, type) else type(policy)
    return made.submitted is not Policy.submitted or made.ended is not Policy.ended


class PolicyState:
    """One instance of a policy at work: what the C library's `state` is the handle of."""

    def __init__(self, policy: Policy):
        self.policy = policy
        self.watches = watches(policy)
        self.error: BaseException | None = None
        self.raised = False  # somebody has got it
        self.caller = 0  # the thread that is in a function of the policy; 0: none
        self.tasks: dict[int, ReadyTask] = {}
        self.handle = ffi.new_handle(self)

    def call(self, function: Any, *arguments: Any) -> Any:
        """Calls a function of the policy; the first exception ends all that comes after."""
        if self.error is not None:
            return None
        before, self.caller = self.caller, threading.get_ident()
        try:
            return function(*arguments)
        except BaseException as error:
            self.error = error
            return None
        finally:
            self.caller = before


class _Starts(threading.local):
    """The states that this thread's heddle_start has made."""

    states: list[PolicyState] | None = None


_starts = _Starts()


@contextlib.contextmanager
def states_of_start() -> Iterator[list[PolicyState]]:
    """Collects the states of the policies that are created meanwhile, in this thread."""
    before, _starts.states = _starts.states, []
    try:
        yield _starts.states
    finally:
        _starts.states = before


_alive: set[PolicyState] = set()  # those that the library has handles of


def _state(pointer: Any) -> PolicyState:
    return ffi.from_handle(pointer)


@ffi.callback("void(void *)")
def _destroy(pointer: Any) -> None:
    state = _state(pointer)
    state.policy._sched = None
    state.tasks.clear()
    _alive.discard(state)


@ffi.callback("void(void *, heddle_task *const *, size_t, int)")
def _ready(pointer: Any, batch: Any, n: int, releaser: int) -> None:
    state = _state(pointer)
    tasks = [state.tasks.get(address(t)) if state.watches else ReadyTask(t, state) for t in batch[0:n]]
    for task in tasks:
        state.tasks[address(task._pointer)] = task
    state.call(state.policy.ready, tasks, releaser)


def _picked(state: PolicyState, task: Any, worker: int) -> Any:
    """What C gets of what a policy's pick has returned."""
    if task is None:
        return ffi.NULL
    if not isinstance(task, ReadyTask):
        raise TypeError(f"pick returned {task!r}: it must be one of the tasks that ready was given, or None")
    pointer = task._live()
    if not task.can_run(worker):
        raise Error(Status.INVALID, f"pick({worker}) returned task {task.order} ({task.name}), which this worker "
                                    "cannot run: ask task.can_run(worker)")
    if not task._state.watches:
        task._pointer = None
    return pointer


@ffi.callback("heddle_task *(void *, unsigned)")
def _pick(pointer: Any, worker: int) -> Any:
    state = _state(pointer)
    found = state.call(lambda: _picked(state, state.policy.pick(worker), worker))
    return ffi.NULL if found is None else found


def _tell(pointer: Any, task: Any, worker: int, function: str, last: bool) -> None:
    state = _state(pointer)
    key = address(task)
    known = state.tasks.pop(key, None) if last and not state.watches else state.tasks.get(key)
    if known is None or getattr(type(state.policy), function) is getattr(Policy, function):
        return
    known._pointer = task
    state.call(getattr(state.policy, function), known, worker)
    if not state.watches:
        known._pointer = None


@ffi.callback("void(void *, heddle_task *)")
def _submitted(pointer: Any, task: Any) -> None:
    state = _state(pointer)
    known = state.tasks[address(task)] = ReadyTask(task, state)
    state.call(state.policy.submitted, known)


@ffi.callback("void(void *, heddle_task *)")
def _ended(pointer: Any, task: Any) -> None:
    state = _state(pointer)
    known = state.tasks.pop(address(task), None)
    if known is not None:
        state.call(state.policy.ended, known)
        known._pointer = None


@ffi.callback("void(void *, heddle_task *, unsigned)")
def _started(pointer: Any, task: Any, worker: int) -> None:
    _tell(pointer, task, worker, "started", False)


@ffi.callback("void(void *, heddle_task *, unsigned)")
def _done(pointer: Any, task: Any, worker: int) -> None:
    _tell(pointer, task, worker, "done", True)


@ffi.callback("void(void *, heddle_sched *)")
def _report(pointer: Any, sched: Any) -> None:
    state = _state(pointer)
    figures = state.call(state.policy.report) or {}
    for name, value in figures.items():
        lib.heddle_sched_report(sched, encode(name), float(value), b"")


class _Registered:
    """What the library knows a policy by. It borrows the structure for ever; the class may change."""

    def __init__(self, name: str):
        self.name, self.made = name, None
        self.kept: list[Any] = []
        self.structure = ffi.new("struct heddle_policy *")
        self.create = ffi.callback("int(heddle_sched *, void **)", self._create, error=lib.HEDDLE_E_INVALID)
        s = self.structure
        s.abi, s.create, s.destroy, s.ready, s.pick = lib.HEDDLE_POLICY_ABI, self.create, _destroy, _ready, _pick
        s.started, s.done, s.report = _started, _done, _report
        s.name, s.source = self._keep(name), self._keep("a program in Python")

    made: type[Policy] | Policy | None

    def _keep(self, what: str) -> Any:
        self.kept.append(encode(what))
        return self.kept[-1]

    def describe(self, made: type[Policy] | Policy) -> None:
        """Makes a class, or one instance of it, what this name means."""
        self.made = made
        lines = (made.__doc__ or "").strip().split("\n") if made.__doc__ is not Policy.__doc__ else [""]
        options = ffi.new("struct heddle_option[]", len(made.options) + 1)
        for row, (name, value) in zip(options, made.options.items()):
            row.name, row.value, row.unit = self._keep(name), self._keep(repr(float(value))), self._keep("number")
            row.help, row.min, row.max = self._keep("see the class"), -1e300, 1e300
        self.kept.append(options)
        self.structure.options = options
        self.structure.submitted, self.structure.ended = (_submitted, _ended) if watches(made) else (ffi.NULL, ffi.NULL)
        self.structure.summary = self._keep(lines[0] or "a policy in Python")

    def _create(self, sched: Any, out: Any) -> int:
        made = self.made
        state: PolicyState | None = None
        try:
            policy = made() if isinstance(made, type) else made
            assert policy is not None
            state = PolicyState(policy)
            policy._sched = sched
            policy._platform = Platform._copy(lib.heddle_sched_platform(sched))
            state.call(policy.setup)
            error = state.error
        except BaseException as raised:
            error = raised
            state = state or PolicyState(Policy())
            state.error = error
        if _starts.states is not None:
            _starts.states.append(state)
        if error is not None:
            sentence = encode(said(error))
            return lib.heddle_sched_fail(sched, lib.HEDDLE_E_INVALID, b"%s", sentence)
        _alive.add(state)
        out[0] = state.handle
        return 0


_registered: dict[str, _Registered] = {}


def open_policy(what: str | type[Policy] | Policy) -> str:
    """Makes a policy known to the library, if it is one in Python; returns its name. Error: the name is empty, which
    the library would take for the default."""
    if isinstance(what, str):
        if not what:
            raise Error(Status.UNKNOWN, f"there is no policy ''; known: {', '.join(policies())}, and auto: Heddle "
                                        "chooses")
        return what
    cls = what if isinstance(what, type) else type(what)
    if not issubclass(cls, Policy) or cls is Policy:
        raise TypeError(f"a policy is a name, a subclass of heddle.Policy or an instance of one, not {what!r}")
    name = cls.__dict__.get("name") or cls.__name__.lower()
    entry = _registered.get(name)
    if entry is None:
        entry = _Registered(name)
        entry.describe(what)
        check(lib.heddle_policy_register(entry.structure))
        _registered[name] = entry
    entry.describe(what)
    return name


def policies() -> dict[str, str]:
    """All policies that are known, the shipped ones first: names and what they do, in one line."""
    listed = ffi.gc(lib.heddle_policies(), lib.free)
    found, i = {}, 0
    while listed[i]:
        found[text(listed[i].name)] = text(listed[i].summary)
        i += 1
    return found
