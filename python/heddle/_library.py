"""Finds and loads libheddle.so, and turns its errors into exceptions."""
from __future__ import annotations

import enum
import os
import tempfile
from typing import Any

from ._words import in_python

try:
    from ._ffi import ffi
except ImportError as missing:
    raise ImportError("heddle/_ffi.py is missing, which the build makes: use build/python, or install the package "
                      f"({missing})") from None

try:  # written by the build: where the library is, seen from this folder, and the version it must have
    from ._location import LIBRARY, VERSION
except ImportError:
    LIBRARY, VERSION = "", ""


def _load() -> Any:
    """The library that the variable LIBHEDDLE names; without it, the one that was built or installed with this package;
    without that, the one that the system's loader finds. What it needs stays hidden from other modules of the program,
    which may have brought libraries of the same names."""
    here = os.path.dirname(os.path.abspath(__file__))  # not resolved: a build has links to the sources
    named = os.environ.get("LIBHEDDLE")
    files = [named] if named else [os.path.join(here, LIBRARY)] * bool(LIBRARY) + ["libheddle.so.0"]
    reasons = []
    for file in files:
        try:
            found = ffi.dlopen(file, os.RTLD_NOW)
            found.heddle_version  # ffi.error: it is another library
            return found
        except (OSError, ffi.error) as error:
            reasons.append(str(error))
    raise ImportError("libheddle.so was not found: install Heddle (make install), or set LIBHEDDLE to the file ("
                      + "; ".join(reasons) + ")")


lib = _load()


def beside(name: str) -> list[str]:
    """The files that another library of Heddle may be: beside libheddle.so, or where the system's loader looks."""
    here = os.path.dirname(os.path.abspath(__file__))
    base = os.environ.get("LIBHEDDLE") or (os.path.join(here, LIBRARY) if LIBRARY else "")
    return [os.path.join(os.path.dirname(base), name)] * ("/" in base) + [name]


def know_types(library: Any, described: Any) -> None:
    """Makes what describes the functions now. cffi would do that at the first use of each, and confuse types if a
    finaliser, or another thread, used the same one meanwhile."""
    for name in dir(library):
        try:
            getattr(library, name)
        except described.error:  # an older library lacks it: what uses it will say so
            pass


know_types(lib, ffi)


def text(pointer: Any) -> str:
    """A C string as a str; "" for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def version() -> str:
    """The version of the library."""
    return text(lib.heddle_version())


if VERSION and version() != VERSION:
    raise ImportError(f"this package was made for Heddle {VERSION}, and the library that was found is {version()}: "
                      "install both together, or set LIBHEDDLE to the right libheddle.so")


class Status(enum.IntEnum):
    """What the functions of the C library return; `include/heddle/status.h` says what each value means."""

    INVALID = lib.HEDDLE_E_INVALID
    MEMORY = lib.HEDDLE_E_MEMORY
    NO_FIT = lib.HEDDLE_E_NO_FIT
    NO_WORKER = lib.HEDDLE_E_NO_WORKER
    KERNEL = lib.HEDDLE_E_KERNEL
    CANCELLED = lib.HEDDLE_E_CANCELLED
    IO = lib.HEDDLE_E_IO
    FORMAT = lib.HEDDLE_E_FORMAT
    UNKNOWN = lib.HEDDLE_E_UNKNOWN
    STATE = lib.HEDDLE_E_STATE
    UNSUPPORTED = lib.HEDDLE_E_UNSUPPORTED
    DEADLOCK = lib.HEDDLE_E_DEADLOCK
    DEVICE = lib.HEDDLE_E_DEVICE
    MISUSE = lib.HEDDLE_E_MISUSE
    INTERRUPTED = lib.HEDDLE_E_INTERRUPTED
    PEER = lib.HEDDLE_E_PEER


class Error(Exception):
    """An error of the library: `status` is a Status, `message` the sentence that names the thing and the remedy."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        known = {s.value for s in Status}
        self.status = Status(status) if status in known else status
        self.message = message


    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self.status), self.message)


class Unique:
    """An object that ends one of the library's when it ends: it cannot be copied, because that would end twice."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:  # which copy and pickle call
        raise TypeError(f"a heddle.{type(self).__name__} cannot be copied or pickled: it stands for what one runtime "
                        "of this process has; pass the object itself, or a copy of its arrays")


class Filed:
    """An object that a file of the library holds: a copy is read from such a file, and a pickle has its bytes."""

    _SUFFIX: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file."""
        raise NotImplementedError

    @classmethod
    def _read(cls, path: str) -> Filed:
        """Reads the file."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f"pickled{self._SUFFIX}")
            self.save(path)
            with open(path, "rb") as file:
                return _filed, (type(self), file.read())


def _filed(cls: type[Filed], held: bytes) -> Filed:
    """What Filed.__reduce__ has put into these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"pickled{cls._SUFFIX}")
        with open(path, "wb") as file:
            file.write(held)
        return cls._read(path)


def said(error: BaseException) -> str:
    """An exception in a sentence about what has raised it."""
    try:
        words = str(error)
    except BaseException as own:
        words = f"its __str__ raises {type(own).__name__}"
    return f"{type(error).__name__}: {words}"


def last_sentence(own: str = "") -> str:
    """What the calling thread's last call that has failed has to say; `own`, the program's part of it, as it is."""
    return in_python(text(lib.heddle_last_error()), own)


def last_error(status: int, own: str = "") -> Error:
    """The error that the calling thread's last call has left."""
    return Error(status, last_sentence(own) or text(lib.heddle_status_name(status)))


def check(status: int) -> None:
    """Raises the error of a call that returned `status`, if it is one."""
    if status < 0:
        raise last_error(status)


def encode(what: str | os.PathLike[str]) -> Any:
    """A str, or a path, as a C string, which lives as long as the object returned. TypeError: it is neither; Error: a
    zero byte would end it too early."""
    try:
        path = os.fspath(what)
    except TypeError:
        raise TypeError(f"a name or a path is needed, not {what!r}") from None
    raw = path if isinstance(path, bytes) else path.encode("utf-8", "surrogateescape")
    if b"\0" in raw:
        raise Error(Status.INVALID, f"{what!r} has a zero byte: no name or path can")
    return ffi.new("char[]", raw)


def fields(structure: Any, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """The fields of a C structure of numbers, as a dictionary."""
    names = names or tuple(name for name, _ in ffi.typeof(structure).fields)
    return {name: getattr(structure, name) for name in names}
