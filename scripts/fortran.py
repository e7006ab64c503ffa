#!/usr/bin/env python3
"""Writes the Fortran modules heddle and heddle_dense, by iso_c_binding, from Heddle's public headers.

    scripts/fortran.py OUTPUT_FOLDER

The headers are read as for the Python package (python/generate.py), and taken apart by pycparser, which comes with
cffi. docs/fortran.md says what becomes of what.
"""
import os
import re
import sys
import textwrap
from pathlib import Path

from pycparser import c_ast, c_parser

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from generate import declarations  # noqa: E402

INCLUDE, DENSE = ROOT / "include" / "heddle", ROOT / "apps" / "dense" / "include" / "heddle"
MODULES = (("heddle", [INCLUDE / f"{name}.h" for name in ("status", "runtime", "data", "task", "group")], ()),
           ("heddle_dense", [DENSE / "dense.h"], ("heddle",)))
NUMBERS = {"int": "integer(c_int)", "unsigned": "integer(c_int)", "size_t": "integer(c_size_t)",
           "uint64_t": "integer(c_int64_t)", "uint32_t": "integer(c_int32_t)", "double": "real(c_double)",
           "char": "character(kind=c_char)"}
ADDRESS, FUNCTION = "type(c_ptr)", "type(c_funptr)"
# What a component of a structure is unless it is set.
NOTHING = {ADDRESS: "c_null_ptr", FUNCTION: "c_null_funptr", "character": "c_null_char", "real": "0"}

# What a compiler of C makes of macros and inline functions is written down here.
SUBMIT = """
! Submits one task, of items in an array: heddle_submit(rt, [heddle_call(codelet), heddle_rw(x)])
function heddle_submit(rt, items) result(status)
  type(c_ptr), value :: rt
  type(heddle_item), intent(in) :: items(:)
  integer(c_int) :: status
  status = heddle_submit_items(rt, size(items, kind=c_size_t), items)
end function

! procedure(arg, status), of bind(c), is called when the task has ended.
function heddle_then(procedure, arg) result(item)
  type(c_funptr), intent(in) :: procedure
  type(c_ptr), intent(in) :: arg
  type(heddle_item) :: item
  item = heddle_item(HEDDLE_ITEM_CALLBACK, 0, arg, transfer(procedure, 0_c_size_t))
end function

! An external task: begin(event, arg), of bind(c), is called when its turn has come.
function heddle_outside(begin, arg) result(item)
  type(c_funptr), intent(in) :: begin
  type(c_ptr), intent(in) :: arg
  type(heddle_item) :: item
  item = heddle_item(HEDDLE_ITEM_OUTSIDE, 0, arg, transfer(begin, 0_c_size_t))
end function

! An access that neither waits nor is waited for: heddle_unordered(heddle_rw(x))
function heddle_unordered(access) result(item)
  type(heddle_item), intent(in) :: access
  type(heddle_item) :: item
  item = access
  item%what = ior(item%what, HEDDLE_ITEM_UNORDERED)
end function

! A text that the library has returned; empty for NULL.
function heddle_text(address) result(text)
  type(c_ptr), intent(in) :: address
  character(len=:), allocatable :: text
  character(kind=c_char), pointer :: bytes(:)
  integer :: n, i
  text = ""
  if (.not. c_associated(address)) return
  call c_f_pointer(address, bytes, [huge(n)])
  n = 0
  do while (bytes(n + 1) /= c_null_char)
    n = n + 1
  end do
  allocate(character(len=n) :: text)
  do i = 1, n
    text(i:i) = bytes(i)
  end do
end function
"""


class Header:
    """Declarations taken apart: constants, structures and functions, in order."""

    def __init__(self, text, known=None):
        self.constants, self.structures, self.functions = {}, {}, []
        self.known = known # the header that this one stands on
        self.typedefs = dict(known.typedefs) if known else {}
        for name, value in re.findall(r"^#define (\w+) (\d+)$", text, re.MULTILINE):
            self.constants[name] = (int(value), "")
            text = re.sub(rf"\b{name}\b", value, text)
        text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
        given = "".join(f"typedef int {name};\n" for name in (*NUMBERS, *self.typedefs)
                        if name not in ("int", "unsigned", "double", "char"))
        for node in c_parser.CParser().parse(given + text).ext[given.count("\n"):]:
            self.take(node)

    def take(self, node):
        declared = node.type
        if isinstance(declared, c_ast.FuncDecl):
            if not any(isinstance(p, c_ast.EllipsisParam) for p in declared.args.params):
                self.functions.append(node)
            return
        inner = declared.type if isinstance(declared, c_ast.TypeDecl) else declared
        if isinstance(inner, c_ast.Struct) and inner.decls:
            self.structures[inner.name or node.name] = inner
        if isinstance(inner, c_ast.Enum):
            self.enumerate(inner)
        if isinstance(node, c_ast.Typedef):
            self.typedefs[node.name] = declared

    def enumerate(self, enum):
        value = -1
        for each in enum.values.enumerators:
            given = each.value
            if given is None:
                value += 1
            elif isinstance(given, c_ast.UnaryOp):
                value = -int(given.expr.value)
            else:
                value = int(given.value)
            self.constants[each.name] = (value, enum.name)

    def has(self, structure):
        return structure in self.structures or bool(self.known and self.known.has(structure))

    def of(self, node):
        """The Fortran type of a value; a structure is known by its name."""
        if isinstance(node, c_ast.PtrDecl):
            return FUNCTION if isinstance(node.type, c_ast.FuncDecl) else ADDRESS
        inner = node.type
        if isinstance(inner, c_ast.Enum):
            return NUMBERS["int"]
        if isinstance(inner, c_ast.Union): # its members have the size of an address each
            return NUMBERS["size_t"]
        if isinstance(inner, c_ast.Struct):
            return f"type({inner.name})"
        name = " ".join(inner.names)
        if name in NUMBERS:
            return NUMBERS[name]
        if self.has(name):
            return f"type({name})"
        return self.of(self.typedefs[name])

    def pointee(self, node):
        """The name of the structure to which a pointer points, if its components are known."""
        inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
        name = inner.name if isinstance(inner, c_ast.Struct) else \
            inner.names[0] if isinstance(inner, c_ast.IdentifierType) else ""
        return name if name and self.has(name) else ""


def argument(header, parameters, i):
    """The declaration of an argument. What may be NULL is optional."""
    name, node = parameters[i].name, parameters[i].type
    if not isinstance(node, c_ast.PtrDecl) or isinstance(node.type, c_ast.FuncDecl):
        return f"{header.of(node)}, value :: {name}"
    constant = "const" in getattr(node.type, "quals", ())
    intent = "intent(in)" if constant else "intent(inout)"
    beside = {p.name for p in parameters[max(i - 1, 0):i + 2]}
    structure = header.pointee(node)
    if structure:
        many = "(*)" if beside & {"n", f"n_{name}"} else ""
        return f"type({structure}), {intent}, optional :: {name}{many}"
    if isinstance(node.type, c_ast.PtrDecl):
        return f"type(c_ptr), intent(inout), optional :: {name}"
    if constant and header.of(node.type) == NUMBERS["char"]:
        return f"character(kind=c_char), intent(in), optional :: {name}(*)"
    return f"type(c_ptr), value :: {name}"


def function(header, node):
    parameters = [p for p in node.type.args.params if p.name]
    result = node.type.type
    is_void = isinstance(result, c_ast.TypeDecl) and getattr(result.type, "names", []) == ["void"]
    kind = "subroutine" if is_void else "function"
    names = ", ".join(p.name for p in parameters)
    lines = [f"{kind} {node.name}({names}) bind(c)" + ("" if is_void else " result(returned)"), "  import"]
    lines += ["  " + argument(header, parameters, i) for i in range(len(parameters))]
    if not is_void:
        lines.append(f"  {header.of(result)} :: returned")
    return [*lines, f"end {kind}"]


def structure(header, name, node):
    lines = [f"type, bind(c) :: {name}"]
    for each in node.decls:
        shape, inner = "", each.type
        while isinstance(inner, c_ast.ArrayDecl):
            shape, inner = f"({inner.dim.value})", inner.type
        kind = header.of(inner)
        nothing = next((value for start, value in NOTHING.items() if kind.startswith(start)), "0")
        given = "" if kind.startswith("type(heddle") else f" = {nothing}"
        lines.append(f"  {kind} :: {each.name}{shape}{given}")
    return [*lines, "end type"]


def item_functions(text):
    """The inline functions that make an item of a task, of the form HEDDLE_ITEM_(what, number, pointer, size)."""
    found = re.findall(r"^static inline struct heddle_item (\w+)\((.*)\)\n\{\n\tHEDDLE_ITEM_\((.*)\);\n\}$", text,
                       re.MULTILINE)
    for name, parameters, fields in found:
        arguments = [re.fullmatch(r"(.*?)(\w+)", p).groups() for p in parameters.split(", ")]
        lines = [f"function {name}({', '.join(n for _, n in arguments)}) result(item)"]
        for kind, argument_name in arguments:
            of = ADDRESS if "*" in kind else NUMBERS["size_t"] if kind.strip() == "size_t" else NUMBERS["int"]
            lines.append(f"  {of}, intent(in) :: {argument_name}")
        what, number, pointer, size = re.sub(r"HEDDLE_INT_\((\w+)\)", r"\1", fields).split(", ")
        pointers = [n for kind, n in arguments if "*" in kind]
        if name == "heddle_out": # its place, into which the library writes
            lines[1] = f"  type(c_ptr), intent(inout), target :: {pointers[0]}"
        pointer = "c_null_ptr" if pointer == "NULL" else f"c_loc({pointer})" if name == "heddle_out" else pointer
        lines += ["  type(heddle_item) :: item",
                  f"  item = heddle_item({what}, {number}, {pointer}, {size if size != '0' else '0_c_size_t'})",
                  "end function"]
        yield lines


def wrapped(line):
    """A statement in lines of the length that Fortran allows."""
    if line.lstrip().startswith("!"):
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return " &\n".join(textwrap.wrap(line, 110, initial_indent=line[:len(line) - len(line.lstrip())],
                                     subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))


def constants(header, procedures):
    """Fortran does not tell HEDDLE_R from heddle_r: such a constant has the name of its enum, HEDDLE_MODE_R."""
    names = {}
    for name, (value, enum) in header.constants.items():
        names[name] = f"{enum.upper()}{name[len('HEDDLE'):]}" if name.lower() in procedures else name
        yield f"integer(c_int), parameter :: {names[name]} = {value}"
    header.names = names


def module(name, headers, uses, known):
    """The text of a module, and what was read."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in headers)
    header = Header(declarations(text), known)
    items = list(item_functions(text))
    procedures = {node.name for node in header.functions}
    procedures |= {re.match(r"function (\w+)", each[0])[1] for each in items}
    lines = ["use, intrinsic :: iso_c_binding", *(f"use {each}" for each in uses), "implicit none", ""]
    lines += constants(header, procedures)
    for each, node in header.structures.items():
        lines += ["", *structure(header, each, node)]
    lines += ["", "interface"]
    for node in header.functions:
        lines += ["  " + line for line in function(header, node)]
    lines.append("end interface")
    if items:
        lines += ["", "contains"]
        for each in items:
            lines += ["", *(re.sub(r"\bHEDDLE_[A-Z]+\b", lambda m: header.names.get(m[0], m[0]), line)
                            for line in each)]
        lines += SUBMIT.rstrip("\n").split("\n")
    body = "\n".join(wrapped(f"  {line}") if line else "" for line in lines)
    return (f"! Heddle's C interface in Fortran, made by scripts/fortran.py. What each function does is said in\n"
            f"! {', '.join(path.name for path in headers)}.\nmodule {name}\n{body}\nend module\n"), header


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    known = None
    for name, headers, uses in MODULES:
        text, known = module(name, headers, uses, known)
        Path(sys.argv[1], f"{name}.f90").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
