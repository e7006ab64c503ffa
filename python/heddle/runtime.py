"""Running tasks: `Runtime`."""
from __future__ import annotations

import atexit
import gc
import itertools
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import address
from ._ffi import ffi
from ._library import Error, Status, check, encode, fields, last_error, last_sentence, lib, text
from ._spans import Spans
from ._words import in_python
from .data import Access, Data, Loan, Mode
from .graph import Graph
from .kernels import Kernel, kernel, value_bytes
from .platform import Platform
from .policy import Policy, PolicyState, open_policy, states_of_start
from .task import Group, Items, Task, tasks_of, whole
from .trace import Trace

_READ, _SCRATCH = Mode.R, Mode.SCRATCH
_NOT_OVER = (Status.INTERRUPTED, Status.DEADLOCK, Status.STATE)  # statuses of waits after which tasks may still begin
_MOST_FAILURES = 64  # exceptions that a runtime remembers for those who may wait yet


class _Call:
    """What the task of a Python kernel is to do."""

    __slots__ = ("runtime", "function", "arguments", "data")

    def __init__(self, runtime: Runtime, function: Callable[..., Any], arguments: list[Any],
                 data: list[tuple[int, Data, bool]]):
        # data: (place among the arguments, the datum, whether the kernel may write it)
        self.runtime, self.function, self.arguments, self.data = runtime, function, arguments, data


# A task's value is the number of its call, because the memory of a task holds bytes, not Python's references.
_calls: dict[int, _Call] = {}
_numbers = itertools.count(1)
_codes = itertools.cycle(range(1 << 30, (1 << 31) - 1))  # values that kernels in C hardly return


def _said(error: BaseException) -> str:
    """An exception in the sentence about its task."""
    return f"{type(error).__name__}: {error}"


def _fail(context: Any, runtime: Runtime, error: BaseException) -> int:
    """Ends a kernel by an exception: it is kept under a number, by which whoever waits finds it again."""
    code = next(_codes)
    failures = runtime._failures
    if len(failures) >= _MOST_FAILURES:  # forgets the oldest but the first, which a wait for all tasks reports
        failures.pop(next(itertools.islice(failures, 1, None)), None)
    failures[code] = error
    return lib.heddle_fail(context, code, b"%s", ffi.new("char[]", _said(error).encode("utf-8", "replace")))


@ffi.callback("int(heddle_context *)", error=1)
def _run(context: Any) -> int:
    """The kernel of all Python functions."""
    number = ffi.cast("uint64_t *", lib.heddle_value_ptr(context, 0))[0]
    call = _calls.pop(number)
    lent: list[weakref.ref[Loan]] = []
    try:
        arguments = call.arguments
        for i, (place, data, writable) in enumerate(call.data):
            arguments[place] = data._in_kernel(context, i, writable, lent)
        call.function(*arguments)
        if lent:
            arguments.clear()
            _check_returned(lent, call.function)
    except BaseException as error:  # also KeyboardInterrupt: it belongs to whoever waits
        return _fail(context, call.runtime, error)
    return 0


def _check_returned(lent: list[weakref.ref[Loan]], function: Callable[..., Any]) -> None:
    """Error: a kernel that has ended has kept an array of Heddle's memory, which may be freed at any time."""
    if any(loan() is not None for loan in lent):
        gc.collect()  # it may be in a circle that nobody has any more
    if any(loan() is not None for loan in lent):
        name = getattr(function, "__qualname__", function)
        raise Error(Status.INVALID, f"kernel {name} has kept an array, or a part of one, whose memory is its own only "
                                    "until it ends: keep a copy, array.copy()")


class _Pending(threading.local):
    """What a signal has raised in this thread while it waited: only a call of the same thread raises it."""

    interrupt: BaseException | None = None


def _configure(settings: dict[str, Any]) -> tuple[Any, list[Any]]:
    """A struct heddle_config with these settings, and what it borrows."""
    config = ffi.new("struct heddle_config *")
    status = lib.heddle_config_init(config)
    if status == lib.HEDDLE_E_UNKNOWN:
        warnings.warn(last_sentence(), stacklevel=4)
    else:
        check(status)
    kept: list[Any] = []
    on_hang = settings.pop("on_hang", None)
    if on_hang is not None:
        kept.append(ffi.callback("void(void *, const char *)", lambda _, sentence: on_hang(in_python(text(sentence)))))
        config.on_hang = kept[-1]
    for name, value in settings.items():
        if value is None:
            continue
        said = str(int(value)) if isinstance(value, (bool, np.bool_)) else str(value)
        kept.append(encode(said))
        check(lib.heddle_setting_set(config, encode(name), kept[-1]))
    return config, kept


class Runtime:
    """Runs tasks on this machine, or in virtual time on another one.

        with heddle.Runtime(n_cpu=4) as rt:
            x, y = rt.data(a), rt.data(b)
            rt.submit(axpy, heddle.read(x), heddle.readwrite(y), 2.0)

    At the end of the block all tasks have ended and the arrays have their values. Ctrl-C interrupts a wait, and the
    tasks go on; where it ends the block, those that have not begun are cancelled. Settings are keywords: n_cpu, trace,
    seed, watchdog ...; `heddle config` lists all. `policy` is a name or a heddle.Policy; `platform` a name, a file or a
    heddle.Platform: then nothing is executed and time is virtual, unless virtual=False.
    """

    def __init__(self, *, policy: str | type[Policy] | Policy | None = None, platform: Platform | str | None = None,
                 virtual: bool = True, **settings: Any):
        self._failures: dict[int, BaseException] = {}
        self._reported: dict[int, BaseException] = {}  # those that a wait for all tasks has seen
        self._dropped: list[tuple[Any, Any]] = []  # a C function, and the object that it is to release
        self._pending = _Pending()
        self._data: dict[int, Data] = {}  # by their handles
        self._spans = Spans()  # of the arrays among them
        self._kernels: dict[Any, Kernel] = {}  # of functions that are no kernels, by their code
        self._codelets: dict[Any, int] = {}
        self._kept: list[Any] = []
        self._pointer: Any = None
        if policy is not None:
            settings["sched"] = open_policy(policy)
        if platform is not None and not isinstance(platform, Platform):
            platform = Platform(platform)
        config, borrowed = _configure(settings)
        self._kept += borrowed  # the callback of on_hang is needed until the end
        config.on_wait = self._watch_signals()
        out = ffi.new("heddle_runtime **")
        with states_of_start() as states:
            if platform is None:
                status = lib.heddle_start(config, out)
            else:
                status = lib.heddle_start_on(config, platform._pointer, int(virtual), out)
        self._policy: PolicyState | None = states[-1] if states else None
        self._check(status)
        self._pointer = out[0]
        _running.add(self)

    # Its life.

    def _watch_signals(self) -> Any:
        """The C function that lets Python run the handlers of signals in a thread that waits. What they raise, such as
        KeyboardInterrupt, ends the wait: the call that has waited raises it."""
        def keep(_: Any, error: BaseException, __: Any) -> None:
            runtime = here()
            if runtime is not None:
                runtime._pending.interrupt = error

        here = weakref.ref(self)  # no circle: the end of the object must not wait for the collector
        call = ffi.callback("int(void *)", lambda _: 0, error=1, onerror=keep)
        self._kept.append(call)
        return call

    def _open(self) -> Any:
        """The C runtime. Error: it was closed."""
        if self._pointer is None:
            raise Error(Status.STATE, "the runtime has been closed")
        dropped = self._dropped
        while dropped:
            try:
                release, pointer = dropped.pop()
            except IndexError:  # another thread was quicker
                break
            release(pointer)
        return self._pointer

    def _check(self, status: int) -> None:
        """Raises what a call that returned `status` has to say: the exception of a kernel or a policy, or Error."""
        policy = self._policy
        if policy is not None and policy.error is not None and (status < 0 or not policy.raised):
            policy.raised = True
            raise policy.error
        pending = self._pending
        if pending.interrupt is not None:
            interrupt, pending.interrupt = pending.interrupt, None
            raise interrupt
        if status >= 0:
            return
        kept = {**self._reported, **self._failures}
        cause = kept.get(lib.heddle_last_code())
        if cause is not None:
            raise cause
        sentence = text(lib.heddle_last_error())  # of a task that was cancelled: has the value of the one that failed
        first = next((e for code, e in kept.items() if str(code) in sentence), None)
        raise last_error(status, _said(first) if first is not None else "") from first

    def close(self) -> None:
        """Waits for all tasks, brings the newest values into the arrays and ends the runtime. Raises the first failure
        that no wait has raised yet. Ctrl-C cancels the tasks that have not begun; the runtime ends all the same, after
        those that run. Blocks."""
        error = self._stop()
        if error is not None:
            raise error

    def _failure(self, status: int) -> BaseException | None:
        """What _check raises; None: nothing."""
        try:
            self._check(status)
        except BaseException as error:
            return error
        return None

    def _stop(self, cancel: bool = False) -> BaseException | None:
        """Ends the runtime, and returns the first failure. `cancel`: only tasks that run already are waited for."""
        if self._pointer is None:
            return None
        pointer = self._open()
        if cancel:
            lib.heddle_cancel_all(pointer)
        status = lib.heddle_stop(pointer)  # where a signal interrupts it, it cancels what has not begun
        if status == lib.HEDDLE_E_STATE:  # in a kernel, or in a child of fork: nothing has changed
            return self._failure(status)
        _running.discard(self)
        self._pointer = None  # only now: tasks that it waits for may still submit others
        failure = self._failure(status)
        self._dropped.clear()
        for data in self._data.values():
            data._pinned.clear()
        self._data.clear()
        self._spans = Spans()
        self._forget_calls()
        return failure

    def _forget_calls(self, before: int | None = None) -> None:
        """Drops what was kept for tasks that have ended without having been run."""
        for number in [n for n, call in list(_calls.items())
                       if call.runtime is self and (before is None or n < before)]:
            _calls.pop(number, None)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        failure = self._stop(cancel=isinstance(error, KeyboardInterrupt))
        if failure is not None and (kind is None or isinstance(failure, KeyboardInterrupt)):
            raise failure

    # Data.

    def data(self, array: npt.ArrayLike | None = None, *, shape: int | tuple[int, ...] | None = None,
             dtype: npt.DTypeLike = np.float64, name: str | None = None) -> Data:
        """Registers an array in place, without a copy: of at most four dimensions, in rows or in columns, also a window
        of a larger one; of any type without Python objects. Error says what is wrong with any other, and refuses one
        that shares elements with an array that is registered already: tasks on the two would not wait for each other.

        With `shape` instead of an array: a temporary, whose memory the first task that writes it allocates.
        """
        if array is not None:
            if not isinstance(array, np.ndarray):
                raise TypeError(f"data are numpy arrays, not {type(array).__name__}: numpy.array(x) makes one")
            made = self._register(array, name)
        elif shape is not None:
            made = Data._temporary(self, (shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype))
        else:
            raise TypeError("data needs an array, or the shape of a temporary")
        self._data[made._number] = made
        return made.set_name(name) if name else made

    def _register(self, array: np.ndarray, name: str | None) -> Data:
        with self._spans.alone():
            other = self._spans.find(array)
            if other is not None:
                raise Error(Status.INVALID, f"the memory of {name or 'an array'}, {array.dtype} {array.shape}, is "
                                            f"registered as {other!r}, and tasks on the two would not wait for each "
                                            "other: use that; or unregister it, register the whole once, and name "
                                            "pieces of it (split, plan, windows)")
            made = Data._register(self, array)
            self._spans.add(array, made)
        return made

    def _forget(self, data: Data) -> None:
        data._pinned.clear()
        self._data.pop(data._number, None)
        if data.array is not None:
            self._spans.forget(data.array, data)

    # Tasks.

    def submit(self, function: Kernel | Callable[..., Any] | None, *arguments: Any, priority: int = 0,
               name: str | None = None, after: Task | Iterable[Task] = (), worker: int | None = None,
               group: Group | None = None) -> Task:
        """Submits one task, and returns at once unless too many are unfinished (the setting `window`).

        `arguments` are accesses, read(x), readwrite(y) ..., or data alone if the kernel says how it uses them; anything
        else is a value. A Python function gets all of them in this order, data as arrays. An array that is no datum is
        a value, too; the function cannot write it, because tasks that share it do not wait for each other. The task
        runs after all tasks that were submitted before and use the same data in conflict, and after those in `after`.
        None: nothing is run.
        """
        pointer, codelet, items = self._open(), self._known(function), Items()
        self._check_number(codelet, arguments)
        if codelet is not None:
            items.add(lib.HEDDLE_ITEM_CODELET, pointer=self._codelet(codelet))
        in_kernel: list[tuple[int, Data, bool]] = []
        values: list[Any] = []
        in_call = list(arguments)
        for place, given in enumerate(arguments):
            if not isinstance(given, (Access, Data)):
                values.append(given)
                if isinstance(given, np.ndarray):  # tasks are not ordered by it
                    in_call[place] = given.view()
                    in_call[place].flags.writeable = False
                continue
            data, mode = self._access(codelet, given, len(in_kernel))
            items.add(mode, pointer=data._number)
            in_kernel.append((place, data, mode != _READ))
        number = next(_numbers) if codelet is not None and codelet._pointer is None else 0
        for value in [number] if number else values:
            items.add_bytes(lib.HEDDLE_ITEM_VALUE, value_bytes(value))
        if priority:
            items.add(lib.HEDDLE_ITEM_PRIORITY, whole(priority, "priority"))
        if name:
            items.add_bytes(lib.HEDDLE_ITEM_NAME, os.fsencode(name) + b"\0")
        for task in tasks_of(after):
            items.add(lib.HEDDLE_ITEM_AFTER, pointer=address(task._pointer))
        if worker is not None:
            items.add(lib.HEDDLE_ITEM_WORKER, whole(worker, "worker"))
        if group is not None:
            items.add(lib.HEDDLE_ITEM_GROUP, pointer=address(group._pointer))
        out = ffi.new("heddle_task **")
        items.add(lib.HEDDLE_ITEM_OUT, pointer=address(out))
        if number:
            run = function.function if isinstance(function, Kernel) else function
            _calls[number] = _Call(self, run, in_call, in_kernel)  # type: ignore[arg-type]
        status = items.submit(pointer)
        if status:
            _calls.pop(number, None)
            self._check(status)
        task = Task(self, out[0])
        if self._pending.interrupt is not None:  # while it waited for room in the window
            self._check(0)
        return task

    def _known(self, function: Kernel | Callable[..., Any] | None) -> Kernel | None:
        """A kernel, or the one that stands for functions of the same code."""
        if function is None or isinstance(function, Kernel):
            return function
        if not callable(function):
            raise TypeError(f"a task runs a function or a heddle.Kernel, not {type(function).__name__}")
        # A lambda in a loop is a new object each time; its code is not.
        code = getattr(function, "__code__", None) or (type(function), getattr(function, "__name__", ""))
        return self._kernels.get(code) or self._kernels.setdefault(code, kernel(function))

    @staticmethod
    def _check_number(codelet: Kernel | None, arguments: tuple[Any, ...]) -> None:
        """Error: the kernel declares another number of data."""
        if codelet is None or codelet.modes is None:
            return
        n = sum(isinstance(a, (Access, Data)) for a in arguments)
        if len(codelet.modes) != n:
            raise Error(Status.INVALID, f"kernel {codelet.name} uses {len(codelet.modes)} data, and was given {n}")

    def _access(self, function: Kernel | None, given: Access | Data, i: int) -> tuple[Data, Mode]:
        """The i-th datum of a task, and its mode."""
        declared = function.modes[i] if function is not None and function.modes is not None else None
        if isinstance(given, Access):
            data, mode = given.data, given.mode
            if declared is not None and mode != declared:
                raise Error(Status.INVALID, f"kernel {function.name}: datum {i} is "  # type: ignore[union-attr]
                                            f"{declared.name.lower()} by its declaration, not {mode.name.lower()}")
        elif declared is None:
            raise Error(Status.INVALID, "the kernel does not say how it uses its data: give read(x), readwrite(x) "
                                        "... or decorate it, @heddle.kernel(\"r\", \"rw\")")
        else:
            data, mode = given, declared
        if data.runtime is not self:
            raise Error(Status.INVALID, f"{data!r} belongs to another runtime")
        if data._ended or data._piece_of is not None:
            data._check_alive()
        if mode != _READ and mode != _SCRATCH and data.array is not None and not data.array.flags.writeable:
            raise Error(Status.INVALID, f"{data!r} was registered from an array that cannot be written: a task can "
                                        "only read it")
        return data, mode

    def _codelet(self, function: Kernel) -> int:
        """The address of the codelet of a kernel in this runtime, which is made at its first use."""
        found = self._codelets.get(function)
        if found is None:
            found = self._codelets[function] = self._make_codelet(function, function._pointer or _run)
        return found

    def _make_codelet(self, function: Kernel, pointer: Any) -> int:
        desc, out = ffi.new("struct heddle_codelet_desc *"), ffi.new("heddle_codelet **")
        name = encode(function.name)
        desc.name, desc.cpu, desc.model, desc.color = name, pointer, function.model, function.color
        self._check(lib.heddle_codelet_create(self._open(), desc, out))
        return address(out[0])

    def _reduction_codelet(self, function: Kernel | Callable[..., Any], data: Data) -> int:
        """The codelet of a step of a reduction. Such kernels get no value, so each has a C function of its own, which
        knows the type of the data."""
        step = function if isinstance(function, Kernel) else kernel(function)
        if step._pointer is not None:
            return self._codelet(step)
        key = (function, data.dtype, data._axes)
        if key in self._codelets:
            return self._codelets[key]
        axes, dtype = data._axes, data.dtype
        like = Data(self, None, None, data.shape, dtype, axes)

        @ffi.callback("int(heddle_context *)", error=1)
        def run(context: Any) -> int:
            try:
                lent: list[weakref.ref[Loan]] = []
                step(*(like._in_kernel(context, i, True, lent) for i in range(lib.heddle_context_n_data(context))))
                _check_returned(lent, step.function or step)
            except BaseException as error:
                return _fail(context, self, error)
            return 0

        self._kept.append(run)
        self._codelets[key] = made = self._make_codelet(step, run)
        return made

    def group(self) -> Group:
        """A new group of tasks."""
        return Group(self)

    def wait(self) -> None:
        """Waits until every task submitted so far has ended. Raises the exception of the first kernel that has failed;
        the runtime can be used further. Blocks."""
        before = next(_numbers)
        status = lib.heddle_wait_all(self._open())
        if status not in (0, *_NOT_OVER):
            self._forget_calls(before)
        try:
            self._check(status)
        finally:  # those that it has seen may be asked for until others are
            if self._failures:
                self._reported, self._failures = self._failures, {}

    # What it knows.

    @property
    def policy(self) -> str:
        """The name of the policy."""
        return text(lib.heddle_runtime_policy(self._open()))

    @property
    def platform(self) -> Platform:
        """The machine as the runtime sees it."""
        return Platform._borrowed(lib.heddle_runtime_platform(self._open()), self)

    def now(self) -> float:
        """us since the start, real or virtual."""
        return lib.heddle_now(self._open())

    def stats(self) -> dict[str, float]:
        """Counters since the start: struct heddle_stats of include/heddle/runtime.h."""
        out = ffi.new("struct heddle_stats *")
        self._check(lib.heddle_runtime_stats(self._open(), out))
        return fields(out[0])

    def policy_report(self) -> dict[str, float]:
        """The statistics that the policy reports."""
        figures: dict[str, float] = {}

        @ffi.callback("void(void *, const char *, double, const char *)")
        def add(_: Any, name: Any, value: float, __: Any) -> None:
            figures[text(name)] = value

        self._check(lib.heddle_policy_report(self._open(), add, ffi.NULL))
        return figures

    def take_trace(self) -> Trace:
        """What has happened since the start or the last call, if trace=True; wait first."""
        out = ffi.new("struct heddle_trace **")
        self._check(lib.heddle_trace_take(self._open(), out))
        return Trace._owned(out[0])

    def record(self) -> Graph:
        """The graph of the tasks since the start or the last trace taken, if trace=True; wait first."""
        out = ffi.new("struct heddle_graph **")
        self._check(lib.heddle_graph_record(self._open(), out))
        return Graph._owned(out[0])

    def run_graph(self, graph: Graph) -> None:
        """Submits all tasks of a graph, in virtual time, and waits for them. Blocks."""
        self._check(lib.heddle_graph_submit(graph._pointer, self._open()))

    def check(self) -> None:
        """Checks whether the runtime's lists and counters agree with one another. For tests: it takes long."""
        self._check(lib.heddle_check(self._open()))


_running: set[Runtime] = set()


os.register_at_fork(after_in_child=_running.clear)  # a child has none of their threads


@atexit.register
def _close_all() -> None:
    """Workers must not call Python when the interpreter has ended."""
    for runtime in list(_running):
        try:
            runtime.close()
        except BaseException as error:
            warnings.warn(f"a runtime that was not closed: {error}", stacklevel=1)

