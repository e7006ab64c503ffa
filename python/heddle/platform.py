"""Machines, real or not: `Platform`."""
from __future__ import annotations

import dataclasses
import os
from typing import Any

from ._ffi import ffi
from ._library import Filed, check, encode, lib, text
from ._given import SIZE_MAX, among, name_of, real, whole


@dataclasses.dataclass(frozen=True)
class Node:
    """A memory; node 0 is main memory. `capacity` is in bytes, 0: no limit."""

    name: str
    capacity: int


@dataclasses.dataclass(frozen=True)
class WorkerClass:
    """Workers that take the same time for the same task. `kind` says which kernels they run: "cpu", "cuda" ..."""

    name: str
    kind: str
    cores: int
    pipeline: int
    streams: int


@dataclasses.dataclass(frozen=True)
class Worker:
    """A processor that runs tasks: of the class `class_id`, on data in the memory `node`."""

    name: str
    class_id: int
    node: int


@dataclasses.dataclass(frozen=True)
class Link:
    """A way to copy from one memory to another: MB/s and us."""

    source: int
    target: int
    bandwidth: float
    latency: float


class Platform(Filed):
    """The description of a machine: `Platform("intel-v100")`, `Platform("mine.yaml")`.

    The names that Heddle knows are `Platform.names()`; docs/platforms.md describes the files.
    """

    def __init__(self, name_or_path: str | os.PathLike[str]):
        out = ffi.new("struct heddle_platform **")
        check(lib.heddle_platform_load(encode(name_or_path), out))
        self._take(ffi.gc(out[0], lib.heddle_platform_free))

    def _take(self, pointer: Any) -> None:
        """Sees the C structure, which is its own."""
        self._pointer = p = pointer
        self.name, self.description, self.source = text(p.name), text(p.description), text(p.source)
        self.nodes = [Node(text(n.name), n.capacity) for n in p.nodes[0:p.n_nodes]]
        self.classes = [WorkerClass(text(c.name), text(c.kind), c.cores, c.pipeline, max(c.streams, 1))
                        for c in p.classes[0:p.n_classes]]
        self.workers = [Worker(text(w.name), w.class_id, w.node) for w in p.workers[0:p.n_workers]]

    @property
    def links(self) -> list[Link]:
        """All links between two memories."""
        p = self._pointer
        links = p.links[0:p.n_links] if p.n_links else []
        return [Link(getattr(x, "from"), x.to, x.bandwidth, x.latency) for x in links]

    _SUFFIX = ".yaml"

    @classmethod
    def _read(cls, path: str) -> Platform:
        return cls(path)

    @classmethod
    def _owned(cls, out: Any) -> Platform:
        self = cls.__new__(cls)
        self._take(ffi.gc(out[0], lib.heddle_platform_free))
        return self

    @classmethod
    def _copy(cls, pointer: Any) -> Platform:
        """A copy of the platform of something that may end before."""
        out = ffi.new("struct heddle_platform **")
        check(lib.heddle_platform_copy(pointer, out))
        return cls._owned(out)

    @classmethod
    def parse(cls, yaml: str, name: str = "text") -> Platform:
        """A platform from the text of a file; messages call it `name`."""
        out = ffi.new("struct heddle_platform **")
        raw = name_of(yaml, "the text of a platform").encode("utf-8", "surrogateescape")
        check(lib.heddle_platform_parse(encode(name), raw, len(raw), out))
        return cls._owned(out)

    @classmethod
    def here(cls) -> Platform:
        """This machine, as a Runtime without arguments would see it; without kernel times."""
        out = ffi.new("struct heddle_platform **")
        check(lib.heddle_platform_configured(ffi.NULL, out))
        return cls._owned(out)

    @staticmethod
    def names() -> list[str]:
        """The platforms that can be loaded by name."""
        out = ffi.new("char ***")
        check(lib.heddle_platform_names(out))
        names, i = [], 0
        while out[0][i]:
            names.append(text(out[0][i]))
            i += 1
        lib.heddle_platform_names_free(out[0])
        return names

    def time(self, codelet: str, class_id: int, *, bytes: float = 0, flops: float = 0) -> float:
        """How long a codelet takes on a class, us, for data of `bytes` and work of `flops`; nan: not known."""
        class_id = among(class_id, "class", len(self.classes))
        return lib.heddle_platform_time(self._pointer, encode(codelet), class_id, real(bytes, "bytes", 0),
                                        real(flops, "flops", 0))

    def add_emulated(self, *, capacity: int = 0, bandwidth: float = 0, latency: float = 0,
                     slowdown: float = 1) -> None:
        """Adds an emulated accelerator: bytes, MB/s (0: like main memory), us, factor."""
        check(lib.heddle_platform_add_emulated(self._pointer, whole(capacity, "capacity", 0, SIZE_MAX),
                                               real(bandwidth, "bandwidth"), real(latency, "latency"),
                                               real(slowdown, "slowdown")))
        self._take(self._pointer)

    def cluster(self, clusters: str) -> None:
        """Groups the cores of the CPU workers into clusters: "socket", "2x10", "none"; see docs/clusters.md."""
        check(lib.heddle_platform_cluster(self._pointer, encode(clusters)))
        self._take(self._pointer)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a YAML file, which Platform(path) reads back."""
        check(lib.heddle_platform_save(self._pointer, encode(path)))

    def __repr__(self) -> str:
        return f"<heddle.Platform {self.name}: {len(self.workers)} workers of {len(self.classes)} classes>"


def as_platform(what: Platform | str | os.PathLike[str]) -> Platform:
    """A platform, or the one of that name."""
    return what if isinstance(what, Platform) else Platform(what)
