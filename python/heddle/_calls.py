"""Who is inside a runtime: so that it ends after the last call that is under way, and later ones are refused."""
from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable
from typing import Any


class _Here(threading.local):
    """The runtimes whose kernels this thread is in, the innermost last."""

    def __init__(self) -> None:
        self.kernels: list[Any] = []


_here = _Here()
_NOTHING = contextlib.nullcontext()


def kernels_here() -> list[Any]:
    """The runtimes whose kernels this thread is in."""
    return _here.kernels


class Calls:
    """The calls that are inside one runtime.

    Each thread has a lock, which it holds while it is inside. To wait until nobody is inside any more is to take and
    give back each of these locks once after `closing` was set, because who comes later sees that. The locks are C's,
    and `with` takes and gives them back without a moment in which a signal could come between. The runtime waits for
    its kernels itself, so their calls need no lock, and go on until it has waited.
    """

    def __init__(self, runtime: Any):
        self._runtime = weakref.ref(runtime)
        self._locks: dict[int, Any] = {}  # by the number of the thread; a number that is used again has a free lock
        self.closing = False

    def in_kernel(self) -> bool:
        """Whether this thread runs a kernel of the runtime."""
        kernels = _here.kernels
        return bool(kernels) and self._runtime() in kernels

    def inside(self) -> Any:
        """What `with` holds during a call of C that needs the runtime."""
        return _NOTHING if self.in_kernel() else self.mine()

    def mine(self) -> Any:
        """The lock of this thread."""
        thread = threading.get_ident()
        return self._locks.get(thread) or self._locks.setdefault(thread, threading.RLock())

    def refuses(self) -> bool:
        """Whether a call that begins now comes too late."""
        return self.closing and not self.in_kernel()

    def am_inside(self) -> bool:
        """Whether this thread is inside already: in a handler of a signal, or in a finaliser."""
        lock = self._locks.get(threading.get_ident())
        return lock is not None and lock._is_owned()

    def drain(self, interrupted: Callable[[BaseException], None]) -> None:
        """Waits until every other thread has been outside once. What a handler of a signal raises meanwhile ends
        nothing: `interrupted` gets it."""
        for lock in list(self._locks.values()):
            over = False
            while not over:
                try:
                    with lock:
                        over = True
                except BaseException as error:
                    interrupted(error)

    def passed(self, seconds: float) -> bool:
        """Whether every other thread has been outside once; False: one of them was inside for so long."""
        mine = self.mine()
        for lock in list(self._locks.values()):
            if lock is not mine:
                if not lock.acquire(timeout=seconds):
                    return False
                lock.release()
        return True

    def forget(self) -> None:
        """In a child of fork: no other thread is there, whoever was inside."""
        self._locks = {}
