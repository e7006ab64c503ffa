"""Running tasks: `Runtime`."""
from __future__ import annotations

import atexit
import collections
import contextlib
import gc
import itertools
import os
import re
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from ._arrays import address, plain
from ._calls import Calls, kernels_here
from ._ffi import ffi
from ._library import Error, Status, Unique, check, encode, fields, last_error, last_sentence, lib, said, text
from ._given import name_of, several, whole
from ._spans import Spans
from ._words import in_python
from .data import Access, Acquired, Data, Loan, Mode
from .graph import Graph
from .kernels import Kernel, kernel, value_bytes
from .platform import Platform
from .policy import Policy, PolicyState, open_policy, states_of_start
from .task import Failures, Group, Items, Outcome, Task, same_runtime, tasks_of
from .trace import Trace

_READ, _SCRATCH = Mode.R, Mode.SCRATCH
_NOT_OVER = (Status.INTERRUPTED, Status.DEADLOCK, Status.STATE)  # statuses of waits after which tasks may still begin
_SWEEP_AT = 256  # calls that wait to be run, from which on submit looks for those that never will be
_PATIENCE = 10.0  # s
_MOST_REPORTED = 128  # exceptions that are remembered after a wait
_CODE = re.compile(r"\b\d{10}\b")  # such a code in a sentence


class _Call:
    """What the task of a Python kernel is to do."""

    __slots__ = ("runtime", "function", "arguments", "data", "outcome", "failures", "task")

    def __init__(self, runtime: Runtime, function: Callable[..., Any], arguments: list[Any],
                 data: list[tuple[int, Data, bool]], failures: Failures):
        # data: (place among the arguments, the datum, whether the kernel may write it)
        self.runtime, self.function, self.arguments, self.data = runtime, function, arguments, data
        self.outcome, self.failures = Outcome(), failures
        self.task: Task | None = None  # when it has been submitted


# A task's value is the number of its call, because the memory of a task holds bytes, not Python's references.
_calls: dict[int, _Call] = {}
_numbers = itertools.count(1)
_codes = itertools.cycle(range(1 << 30, (1 << 31) - 1))  # values that kernels in C hardly return, of ten digits
_outcomes: weakref.WeakValueDictionary[int, Outcome] = weakref.WeakValueDictionary()  # by the code that C knows


def _fail(context: Any, runtime: Runtime, error: BaseException, outcome: Outcome, failures: Failures) -> int:
    """Ends a kernel by an exception: it is kept under a number, by which whoever waits finds it again."""
    code = next(_codes)
    outcome.error, _outcomes[code] = error, outcome
    (failures if failures.live else runtime._failures).add(outcome)
    return lib.heddle_fail(context, code, b"%s", ffi.new("char[]", said(error).encode("utf-8", "replace")))


def _attempt(context: Any, call: _Call) -> int:
    """Runs a Python function as a kernel."""
    lent: list[tuple[int, weakref.ref[Loan]]] = []
    here, runtime, arguments = kernels_here(), call.runtime, call.arguments
    outcome, failures = call.outcome, call.failures
    here.append(runtime)
    try:
        for i, (place, data, writable) in enumerate(call.data):
            arguments[place] = data._in_kernel(context, i, writable, lent)
        call.function(*arguments)
        if lent:
            arguments.clear()
            _check_returned(context, lent, call.function)
    except BaseException as error:  # also KeyboardInterrupt: it belongs to whoever waits
        if lent:
            arguments.clear()
            _take_back(context, lent, error)
        del call, arguments  # because the exception keeps this frame
        return _fail(context, runtime, error, outcome, failures)
    finally:
        call = arguments = None  # type: ignore[assignment]  # their finalisers, too, are in the kernel
        here.pop()
        del outcome, failures  # which have the exception
    return 0


@ffi.callback("int(heddle_context *)", error=1)
def _run(context: Any) -> int:
    """The kernel of all Python functions."""
    return _attempt(context, _calls.pop(ffi.cast("uint64_t *", lib.heddle_value_ptr(context, 0))[0]))


_outside: dict[int, tuple[Runtime, Callable[[Event], Any]]] = {}  # what begins external tasks, by number


class Event:
    """What an external task waits for: Runtime.outside(). To be fulfilled once, by any thread."""

    __slots__ = ("_pointer", "_runtime")

    def __init__(self, pointer: Any, runtime: Runtime):
        self._pointer, self._runtime = pointer, runtime

    def _take(self) -> Any:
        pointer, self._pointer = self._pointer, None
        if pointer is None:
            raise Error(Status.STATE, "this event has been fulfilled before; fulfill each event once")
        return pointer

    def fulfill(self) -> None:
        """Ends the task."""
        with self._runtime._inside():
            self._runtime._check(lib.heddle_fulfill(self._take(), 0))

    def fail(self, reason: object) -> None:
        """Ends the task as one that has failed, for this reason."""
        sentence = ffi.new("char[]", str(reason).encode("utf-8", "replace"))
        with self._runtime._inside():
            self._runtime._check(lib.heddle_event_fail(self._take(), -1, b"%s", sentence))


@ffi.callback("void(struct heddle_event *, void *)")
def _begin_outside(pointer: Any, arg: Any) -> None:
    """Begins an external task; an exception fails it."""
    runtime, begin = _outside[int(ffi.cast("uintptr_t", arg))]
    here, event = kernels_here(), Event(pointer, runtime)
    here.append(runtime)
    try:
        begin(event)
    except BaseException as error:
        if event._pointer is not None:
            lib.heddle_event_fail(event._take(), -1, b"%s", ffi.new("char[]", said(error).encode("utf-8", "replace")))
    finally:
        here.pop()


@ffi.callback("void(void *, int)")
def _end_outside(arg: Any, _status: int) -> None:
    """Forgets what begins an external task, which has ended."""
    _outside.pop(int(ffi.cast("uintptr_t", arg)), None)


def _kept(context: Any, lent: list[tuple[int, weakref.ref[Loan]]]) -> bool:
    """Whether somebody has kept an array of Heddle's memory. Then that memory stays, so that the array can be read."""
    if any(loan() is not None for _, loan in lent):
        gc.collect()  # it may be in a circle that nobody has any more
    kept = [i for i, loan in lent if loan() is not None]
    for i in kept:
        lib.heddle_context_keep(context, i)
    return bool(kept)


def _check_returned(context: Any, lent: list[tuple[int, weakref.ref[Loan]]], function: Callable[..., Any]) -> None:
    """Error: a kernel that has ended has kept an array of Heddle's memory."""
    if _kept(context, lent):
        name = getattr(function, "__qualname__", function)
        raise Error(Status.INVALID, f"kernel {name} has kept an array, or a part of one, whose memory is its own only "
                                    "until it ends: keep a copy, array.copy()")


def _take_back(context: Any, lent: list[tuple[int, weakref.ref[Loan]]], error: BaseException) -> None:
    """Takes back the arrays of a kernel that has failed: the exception keeps the frames of its functions, whose
    variables are such arrays; these variables are forgotten."""
    chain: list[BaseException] = []
    following: list[BaseException | None] = [error]
    while following:
        link = following.pop()
        if link is not None and all(link is not known for known in chain):
            chain.append(link)
            following += (link.__cause__, link.__context__)
    if any(loan() is not None for _, loan in lent):
        for link in chain:
            traceback.clear_frames(link.__traceback__)
    _kept(context, lent)


def _function_of(function: Kernel | Callable[..., Any] | None) -> Callable[..., Any]:
    """The Python function of a kernel that is none in C."""
    found = function.function if isinstance(function, Kernel) else function
    assert found is not None
    return found


class _Pending(threading.local):
    """What a signal has raised in this thread while it waited: only a call of the same thread raises it."""

    interrupt: BaseException | None = None


_FIELDS = {name for name, _ in ffi.typeof("struct heddle_config").fields}


def _type(dtype: npt.DTypeLike) -> np.dtype:
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"dtype: {error}") from None


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
        if not callable(on_hang):
            raise TypeError(f"on_hang is a function of a sentence, not {on_hang!r}")
        kept.append(ffi.callback("void(void *, const char *)", lambda _, sentence: on_hang(in_python(text(sentence)))))
        config.on_hang = kept[-1]
    for name, value in settings.items():
        if value is None:
            continue
        if value is True and f"{name}_file" in _FIELDS:  # keeps the file that HEDDLE_TRACE, say, names
            setattr(config, name, 1)
            continue
        said = str(int(value)) if isinstance(value, (bool, np.bool_)) else str(value)
        kept.append(encode(said))
        check(lib.heddle_setting_set(config, encode(name), kept[-1]))
    return config, kept


class Runtime(Unique):
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
        self._failures = Failures()  # of tasks without a group
        # Those that waits have told of, or are about to: other threads, whose waits end now, may ask for them.
        self._reported: collections.deque[Outcome] = collections.deque(maxlen=_MOST_REPORTED)
        self._callers = Calls(self)
        self._uses = Calls(self)  # of handles of data, by calls that soon end
        self._ending, self._stopped, self._process = threading.RLock(), False, os.getpid()
        self._held: dict[int, Acquired] = {}  # what the program has acquired
        self._sweep_at = _SWEEP_AT
        self._virtual = platform is not None and bool(virtual)
        # of heddle.sparse and heddle.fmm: has end(), which is called before heddle_stop
        self._extensions: dict[str, Any] = {}
        self._dropped: list[tuple[Any, Any]] = []  # a C function, and the object that it is to release
        self._pending = _Pending()
        self._data: dict[int, Data] = {}  # by their handles
        self._spans = Spans()  # of the arrays among them
        self._kernels: dict[Any, Kernel] = {}  # of functions that are no kernels, by their code
        self._codelets: dict[Any, int] = {}
        self._steps: dict[Kernel, list[Step]] = {}  # of reductions, those that no datum has
        self._kept: list[Any] = []
        self._pointer: Any = None
        if policy is not None:
            if settings.get("sched") is not None:
                raise TypeError(f"policy={policy!r} and sched={settings['sched']!r} are one setting: give one of them")
            settings["sched"] = open_policy(policy)
        if platform is not None and not isinstance(platform, Platform):
            platform = Platform(platform)
        config, borrowed = _configure(settings)
        self._kept += borrowed  # the callback of on_hang is needed until the end
        config.on_wait = self._watch_signals()
        self._policy: PolicyState | None = None
        try:
            with self._inside():
                _running.add(self)  # first: whoever closes all waits for this start
                self._start(config, platform, virtual)
        except BaseException:
            self._stop()
            _running.discard(self)
            raise

    # Its life.

    def _start(self, config: Any, platform: Platform | None, virtual: bool) -> None:
        if _ended.is_set():
            raise Error(Status.STATE, "no runtime starts any more: the interpreter is ending")
        out = ffi.new("heddle_runtime **")
        try:
            with states_of_start() as states:
                if platform is None:
                    status = lib.heddle_start(config, out)
                else:
                    status = lib.heddle_start_on(config, platform._pointer, int(bool(virtual)), out)
        finally:  # also if a handler of a signal raises something right after it
            self._pointer = out[0] or None
        self._policy = states[-1] if states else None
        if status == 0:
            self._failures.most += lib.heddle_runtime_platform(out[0]).n_workers
        self._check(status)

    def _inside(self) -> Any:
        """What `with` holds while a call of C needs the runtime: it does not end meanwhile."""
        return self._callers.inside()

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

    def _check_no_policy(self) -> None:
        """Error: this thread is in a function of the runtime's policy, for which the runtime waits."""
        if self._policy is not None and self._policy.caller == threading.get_ident():
            raise Error(Status.STATE, "a function of a policy cannot call the runtime that waits for it: it has "
                                      "self.now() and its kin, and methods of its tasks")

    def _open(self) -> Any:
        """The C runtime, inside `with self._inside()`. Error: it was closed."""
        if self._pointer is None or self._callers.refuses():
            raise Error(Status.STATE, "the runtime has been closed")
        self._check_no_policy()
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
        cause = _outcomes.get(lib.heddle_last_code())
        if cause is not None and cause.error is not None:
            self._sweep()
            raise cause.error
        sentence = text(lib.heddle_last_error())  # of a task that was cancelled: has the value of the one that failed
        found = (_outcomes.get(int(code)) for code in _CODE.findall(sentence))
        first = next((outcome.error for outcome in found if outcome is not None), None)
        error = last_error(status, said(first) if first is not None else "")
        self._sweep()
        raise error from first

    def _wait(self, status: int, failures: Failures) -> None:
        """Raises what a wait that returned `status` has to say, and notes that these failures are told."""
        try:
            self._check(status)
        finally:
            if status < 0 and status not in _NOT_OVER:
                self._reported.extend(failures.take())

    def _sweep(self) -> None:
        """Forgets the calls of tasks that have ended without having been run, because they were cancelled."""
        with self._inside():
            if self._pointer is None or self._callers.closing:
                return
            for number, call in list(_calls.items()):
                if call.runtime is self and call.task is not None and lib.heddle_task_done(call.task._pointer):
                    _calls.pop(number, None)
        self._sweep_at = max(_SWEEP_AT, 2 * len(_calls))

    def close(self) -> None:
        """Waits for all tasks, brings the newest values into the arrays and ends the runtime. Raises the first failure
        that no wait has raised yet. Ctrl-C cancels the tasks that have not begun; the runtime ends all the same, after
        those that run. Blocks."""
        self._check_no_policy()
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
        if self._pointer is not None and (kernels_here() or os.getpid() != self._process):
            return self._failure(lib.heddle_stop(self._pointer))  # which says that a kernel, or a child, cannot do that
        if self._callers.am_inside():
            return Error(Status.STATE, "Runtime.close() cannot be called in a handler of a signal, or a finaliser, "
                                       "that came while its thread is in a call of the runtime: let it note what is "
                                       "to be done, and do that after it")
        with self._ending:  # another thread that closes it
            return self._end(cancel)

    def _end(self, cancel: bool) -> BaseException | None:
        if self._stopped:  # also in a handler of a signal in heddle_stop
            return None
        self._callers.closing = True
        if cancel and self._pointer is not None:
            lib.heddle_cancel_all(self._pointer)
        self._release_all()
        self._callers.drain(self._interrupt)
        pointer = self._pointer
        if pointer is None or self._stopped:  # it never started, or a handler of a signal has stopped it meanwhile
            return None
        self._stopped, status = True, 0
        self._end_extensions()
        try:
            status = lib.heddle_stop(pointer)  # where a signal interrupts it, it cancels what has not begun
        except BaseException as error:  # of a handler of a signal, right after it
            self._pending.interrupt = error
        self._pointer = None  # only now: tasks that it waits for may still submit others
        _running.discard(self)
        failure = self._failure(status)
        self._dropped.clear()
        for data in self._data.values():
            data._pinned.clear()
        self._data.clear()
        self._spans = Spans()
        for number in [n for n, call in list(_calls.items()) if call.runtime is self]:
            _calls.pop(number, None)
        return failure

    def _end_extensions(self) -> None:
        """Ends what other modules have in the runtime. What a handler of a signal raises meanwhile ends nothing."""
        for extension in self._extensions.values():
            over = False
            while not over:
                try:
                    extension.end()
                    over = True
                except BaseException as error:
                    self._interrupt(error)

    def _interrupt(self, error: BaseException) -> None:
        """What a handler of a signal has raised while this thread closes the runtime: it is raised at the end."""
        self._pending.interrupt = error
        if self._pointer is not None:
            lib.heddle_cancel_all(self._pointer)

    def _release_all(self) -> None:
        """Takes back what the program has acquired, because calls that are under way may wait for it."""
        for held in list(self._held.values()):
            with contextlib.suppress(Error):
                held._give_back()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        failure = self._stop(cancel=isinstance(error, KeyboardInterrupt))
        if failure is not None and (kind is None or isinstance(failure, KeyboardInterrupt)):
            raise failure

    # Data.

    def data(self, array: npt.ArrayLike | None = None, *, shape: SupportsIndex | Sequence[SupportsIndex] | None = None,
             dtype: npt.DTypeLike = None, name: str | None = None) -> Data:
        """Registers an array in place, without a copy: of at most four dimensions, in rows or in columns, also a window
        of a larger one; of any type without Python objects. A numpy.memmap is used as the plain array that it is; other
        subclasses, whose operators mean something else, are refused. Error says what is wrong with any other, and
        refuses one that shares elements with an array that is registered already: tasks on the two would not wait for
        each other.

        With `shape` instead of an array: a temporary, of np.float64 or `dtype`, whose memory the first task that writes
        it allocates.
        """
        name = name_of(name, "the name of a datum")
        if array is not None:
            if shape is not None or dtype is not None:
                raise TypeError("data takes an array as it is; shape and dtype are those of a temporary: "
                                "array.reshape(shape), or a copy, array.astype(dtype)")
            if not isinstance(array, np.ndarray):
                raise TypeError(f"data are numpy arrays, not {type(array).__name__}: numpy.array(x) makes one")
            made = self._register(plain(array), name)
        elif shape is not None:
            made = Data._temporary(self, several(shape, "shape"), _type(dtype))
        else:
            raise TypeError("data needs an array, or the shape of a temporary")
        self._data[made._number] = made
        return made.set_name(name) if name else made

    def _register(self, array: np.ndarray, name: str) -> Data:
        with self._inside(), self._spans.alone():
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
        while data._steps:
            step = data._steps.pop()
            self._steps[step.kernel].append(step)
        self._data.pop(data._number, None)
        if data.array is not None:
            self._spans.forget(data.array, data)

    def _nobody_uses(self, what: Any) -> None:
        """Waits for submissions that are under way, so that `what`, which is marked as ended, can end. In a kernel,
        for which submissions may wait, this returns at once: there `what` is the kernel's own. Error: submissions
        wait for something."""
        if kernels_here():
            return
        if self._uses.am_inside():
            raise Error(Status.STATE, f"{what!r} cannot end in a handler of a signal, or a finaliser, that came while "
                                      "its thread submits a task: let it note what is to be done, and do that after it")
        if not self._uses.passed(_PATIENCE):
            raise Error(Status.STATE, f"{what!r} cannot end while other threads submit tasks, and these have waited "
                                      f"for {_PATIENCE:g} s: perhaps for what this thread has acquired")

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
        with self._uses.mine():  # none of the data ends between the look at it and the submission
            codelet, items = self._known(function), Items()
            self._check_number(codelet, arguments)
            if codelet is not None:
                items.add(lib.HEDDLE_ITEM_CODELET, pointer=self._codelet(codelet))
            in_kernel: list[tuple[int, Data, bool]] = []
            values: list[Any] = []
            in_call = list(arguments)
            for place, given in enumerate(arguments):
                if not isinstance(given, (Access, Data)):
                    values.append(given)
                    if isinstance(given, (list, tuple)) and any(isinstance(g, Access) for g in given):
                        raise TypeError("accesses in a list are not those of the task: give each as an argument, "
                                        "*[read(x), read(y)]")
                    if isinstance(given, np.ndarray):  # tasks are not ordered by it
                        in_call[place] = given.view()
                        in_call[place].flags.writeable = False
                    continue
                data, mode = self._access(codelet, given, len(in_kernel))
                if isinstance(given, Access) and not given.ordered:
                    mode_of_item = mode | lib.HEDDLE_ITEM_UNORDERED
                else:
                    mode_of_item = mode
                items.add(mode_of_item, pointer=data._number)
                in_kernel.append((place, data, mode != _READ))
            number = next(_numbers) if codelet is not None and codelet._pointer is None else 0
            for value in [number] if number else values:
                items.add_bytes(lib.HEDDLE_ITEM_VALUE, value_bytes(value))
            urgency = whole(priority, "priority")
            if urgency:
                items.add(lib.HEDDLE_ITEM_PRIORITY, urgency)
            if name_of(name, "the name of a task"):
                items.add_bytes(lib.HEDDLE_ITEM_NAME, bytes(ffi.buffer(encode(name))))  # type: ignore[arg-type]
            for task in tasks_of(after):
                same_runtime(self, task._runtime, "a task in `after`")
                items.add(lib.HEDDLE_ITEM_AFTER, pointer=address(task._pointer))
            if worker is not None:
                items.add(lib.HEDDLE_ITEM_WORKER, whole(worker, "worker", 0))
            if group is not None:
                if not isinstance(group, Group):
                    raise TypeError(f"group is what Runtime.group() has made, not {group!r}")
                same_runtime(self, group._runtime, "the group")
                items.add(lib.HEDDLE_ITEM_GROUP, pointer=address(group._pointer))
            out = ffi.new("heddle_task **")
            items.add(lib.HEDDLE_ITEM_OUT, pointer=address(out))
            if not number:
                return self._insert(items, out, None)
            failures = self._failures if group is None else group._failures
            return self._insert(items, out, _Call(self, _function_of(function), in_call, in_kernel, failures), number)

    def _insert(self, items: Items, out: Any, call: _Call | None, number: int = 0) -> Task:
        """Submits the task that `items` describe, which runs `call` if it is a Python function."""
        with self._inside():
            if len(_calls) > self._sweep_at:
                self._sweep()
            pointer = self._open()
            if call is not None:
                _calls[number] = call
            status = items.submit(pointer)
            if status:
                _calls.pop(number, None)
            self._check(status)
            task = Task(self, out[0], call.outcome if call is not None else None)
            if call is not None:
                call.task = task
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
        key = (function._pointer or _run, function.name, function.model, function.color)
        found = self._codelets.get(key)
        if found is None:
            found = self._codelets[key] = self._make_codelet(function, key[0])
        return found

    def _make_codelet(self, function: Kernel, pointer: Any) -> int:
        desc, out = ffi.new("struct heddle_codelet_desc *"), ffi.new("heddle_codelet **")
        name = encode(function.name)
        desc.name, desc.cpu, desc.model, desc.color = name, pointer, function.model, function.color
        with self._inside():
            self._check(lib.heddle_codelet_create(self._open(), desc, out))
        return address(out[0])

    def _reduction_codelet(self, function: Kernel | Callable[..., Any], data: Data) -> int:
        """The codelet of a step of a reduction of `data`."""
        kernel = function if isinstance(function, Kernel) else self._known(function)
        assert kernel is not None
        if kernel._pointer is not None:
            return self._codelet(kernel)
        free = self._steps.setdefault(kernel, [])
        step = next((s for s in data._steps if s.kernel is kernel), None)
        if step is None:
            try:
                step = free.pop()
            except IndexError:
                step = Step(self, kernel)
            data._steps.append(step)
        step.use(function, data)
        return step.codelet

    def group(self) -> Group:
        """A new group of tasks."""
        return Group(self)

    def outside(self, begin: Callable[[Event], Any], *accesses: Access, priority: int = 0, name: str | None = None,
                after: Task | Iterable[Task] = ()) -> Task:
        """Submits an external task, whose work is done outside of Heddle: a file is read, a message comes, a coroutine
        ends. When its turn has come and its data are in main memory, begin(event) is called, in any thread; it starts
        the work and must not block. The task has its data until the event is fulfilled, by any thread."""
        with self._uses.mine():
            items, number = Items(), next(_numbers)
            for i, given in enumerate(accesses):
                data, mode = self._access(None, given, i)
                ordered = not isinstance(given, Access) or given.ordered
                items.add(mode if ordered else mode | lib.HEDDLE_ITEM_UNORDERED, pointer=data._number)
            items.add(lib.HEDDLE_ITEM_OUTSIDE, pointer=number, size=address(_begin_outside))
            items.add(lib.HEDDLE_ITEM_CALLBACK, pointer=number, size=address(_end_outside))
            if whole(priority, "priority"):
                items.add(lib.HEDDLE_ITEM_PRIORITY, priority)
            if name_of(name, "the name of a task"):
                items.add_bytes(lib.HEDDLE_ITEM_NAME, bytes(ffi.buffer(encode(name))))  # type: ignore[arg-type]
            for task in tasks_of(after):
                same_runtime(self, task._runtime, "a task in `after`")
                items.add(lib.HEDDLE_ITEM_AFTER, pointer=address(task._pointer))
            out = ffi.new("heddle_task **")
            items.add(lib.HEDDLE_ITEM_OUT, pointer=address(out))
            _outside[number] = (self, begin)
            try:
                return self._insert(items, out, None)
            except BaseException:
                _outside.pop(number, None)
                raise

    def pause(self) -> None:
        """Lets workers begin no task until resume() was called as often. Does not wait for tasks that run."""
        with self._inside():
            self._check(lib.heddle_pause(self._open()))

    def resume(self) -> None:
        """Ends a pause."""
        with self._inside():
            self._check(lib.heddle_resume(self._open()))

    def wait(self) -> None:
        """Waits until every task submitted so far has ended. Raises the exception of the first kernel that has failed;
        the runtime can be used further. Blocks."""
        with self._inside():
            status = lib.heddle_wait_all(self._open())
            self._wait(status, self._failures)
            self._sweep()  # of groups that were cancelled

    # What it knows.

    @property
    def policy(self) -> str:
        """The name of the policy."""
        with self._inside():
            return text(lib.heddle_runtime_policy(self._open()))

    @property
    def platform(self) -> Platform:
        """The machine as the runtime sees it now."""
        with self._inside():
            return Platform._copy(lib.heddle_runtime_platform(self._open()))

    def now(self) -> float:
        """us since the start, real or virtual."""
        with self._inside():
            return lib.heddle_now(self._open())

    def stats(self) -> dict[str, float]:
        """Counters since the start: struct heddle_stats of include/heddle/runtime.h."""
        out = ffi.new("struct heddle_stats *")
        with self._inside():
            self._check(lib.heddle_runtime_stats(self._open(), out))
        return fields(out[0])

    def policy_report(self) -> dict[str, float]:
        """The statistics that the policy reports."""
        figures: dict[str, float] = {}

        @ffi.callback("void(void *, const char *, double, const char *)")
        def add(_: Any, name: Any, value: float, __: Any) -> None:
            figures[text(name)] = value

        with self._inside():
            self._check(lib.heddle_policy_report(self._open(), add, ffi.NULL))
        return figures

    def take_trace(self) -> Trace:
        """What has happened since the start or the last call, if trace=True; wait first."""
        out = ffi.new("struct heddle_trace **")
        with self._inside():
            self._check(lib.heddle_trace_take(self._open(), out))
        return Trace._owned(out[0])

    def record(self) -> Graph:
        """The graph of the tasks since the start or the last trace taken, if trace=True; wait first."""
        out = ffi.new("struct heddle_graph **")
        with self._inside():
            self._check(lib.heddle_graph_record(self._open(), out))
        return Graph._owned(out[0])

    def run_graph(self, graph: Graph) -> None:
        """Submits all tasks of a graph, in virtual time, and waits for them. Blocks."""
        if not isinstance(graph, Graph):
            raise TypeError(f"run_graph runs a heddle.Graph, not {graph!r}")
        with self._inside():
            self._check(lib.heddle_graph_submit(graph._pointer, self._open()))

    def check(self) -> None:
        """Checks whether the runtime's lists and counters agree with one another. For tests: it takes long."""
        with self._inside():
            self._check(lib.heddle_selfcheck(self._open()))


class Step:
    """A step of the reduction of one datum. Such kernels get no value, so each has a C function of its own; when the
    datum has ended, another one takes it over."""

    def __init__(self, runtime: Runtime, kernel: Kernel):
        self.kernel = kernel
        here = weakref.ref(runtime)

        @ffi.callback("int(heddle_context *)", error=1)
        def run(context: Any) -> int:
            within = here()
            assert within is not None  # it waits for its kernels
            like = self._like
            data = [(i, like, True) for i in range(lib.heddle_context_n_data(context))]
            return _attempt(context, _Call(within, self._function, [None] * len(data), data, within._failures))

        self._run = run
        self.codelet = runtime._make_codelet(kernel, run)
        runtime._kept.append(run)

    def use(self, function: Kernel | Callable[..., Any], data: Data) -> None:
        """From now on the step calls this function, with arrays like those of the datum."""
        self._function = _function_of(function)
        self._like = Data(data.runtime, None, None, data.shape, data.dtype, data._axes)


_running: set[Runtime] = set()
_ended = threading.Event()  # no runtime starts any more


def _in_child() -> None:
    """A child of fork has none of their threads."""
    for runtime in list(_running):
        runtime._callers.forget()
        runtime._uses.forget()
        runtime._ending = threading.RLock()
    _running.clear()


os.register_at_fork(after_in_child=_in_child)


@atexit.register
def _close_all() -> None:
    """Workers must not call Python when the interpreter has ended."""
    _ended.set()
    for runtime in list(_running):
        try:
            runtime.close()
        except BaseException as error:
            warnings.warn(f"a runtime that was not closed: {said(error)}", stacklevel=1)
