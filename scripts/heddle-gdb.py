"""Commands for gdb that show what a program with Heddle does: tasks, workers, data.

    (gdb) heddle tasks [RUNTIME]      the unfinished tasks: state, worker, what they wait for
    (gdb) heddle workers [RUNTIME]    what each worker runs, and what it has next
    (gdb) heddle data [RUNTIME]       all data, one line each
    (gdb) heddle datum DATUM          the copies of one, and its chain: who has it, who waits for it

RUNTIME and DATUM are expressions, a heddle_runtime * and a heddle_data *. Without RUNTIME, it is looked for among the
variables of the frames of all threads. Nothing of the program is run, so the commands also work on a core file. gdb
loads this file by itself where it is installed beside libheddle.so, in a directory that gdb trusts
(`add-auto-load-safe-path DIRECTORY`); otherwise `source` it. The library must have debug information.
"""
import gdb

MODES = {1: "R", 2: "W", 4: "SCRATCH", 3: "RW", 8: "REDUX", 16: "COMMUTE"}
ALIAS = 1 # HD_ACCESS_ALIAS


def words_of(enumeration, prefix):
    """The names of the values of an enumeration of the library, without their prefix: {1: "waiting", ...}."""
    try:
        fields = gdb.lookup_type("enum " + enumeration).fields()
    except gdb.error: # no debug information about it
        return {}
    return {field.enumval: field.name[len(prefix):].lower() for field in fields}


def text(pointer, otherwise):
    return pointer.string() if pointer else otherwise


def state_of(task):
    return words_of("hd_task_state", "HD_").get(int(task["state"]), f"in state {int(task['state'])}")


def name_of_task(task):
    """As messages of the library call it: "NAME (CODELET, task 7)"."""
    kind = words_of("hd_task_kind", "HD_TASK_").get(int(task["kind"]), "task")
    own = text(task["extra"]["name"], None) if task["extra"] else None
    codelet = text(task["codelet"]["desc"]["name"], kind) if task["codelet"] else kind
    number = f"task {int(task['order'])}"
    return f"{own} ({codelet}, {number})" if own else f"{codelet} ({number})"


def name_of_datum(datum):
    own = text(datum["extra"]["name"], None) if datum["extra"] else None
    return own or f"datum {int(datum['id'])}"


def shape_of(datum):
    part = datum["part"]
    extents = " x ".join(str(int(part["n"][i])) for i in range(int(part["n_dims"])))
    return f"{extents}{' of ' if extents else ''}{int(part['elem_size'])} bytes"


def task_of(access):
    """The task whose accesses[index] this is."""
    task = gdb.lookup_type("struct heddle_task")
    accesses = next(f for f in task.fields() if f.name == "accesses")
    first = int(access) - int(access["index"]) * access.dereference().type.sizeof
    return gdb.Value(first - accesses.bitpos // 8).cast(task.pointer())


def each_task(runtime):
    """The tasks that are in the graph, in the order of their submission."""
    task = gdb.lookup_type("struct heddle_task").pointer()
    slab, found = runtime["pool"]["slabs"], []
    while slab:
        first = int(slab) + slab.dereference().type.sizeof
        for i in range(int(slab["n_tasks"])):
            one = gdb.Value(first + i * int(slab["task_size"])).cast(task)
            if state_of(one) not in ("outside", "ended"):
                found.append(one)
        slab = slab["next"]
    return sorted(found, key=lambda t: int(t["order"]))


def name_of_worker(runtime, i):
    return text(runtime["platform"]["workers"][i]["name"], str(i))


def look_in_frames(frames):
    """A runtime that a variable of these frames points to, directly or through a worker or a datum."""
    kinds = {"heddle_runtime": lambda v: v, "hd_worker": lambda v: v["rt"], "heddle_data": lambda v: v["rt"],
             "hd_copier": lambda v: v["rt"], "heddle_codelet": lambda v: v["rt"]}
    while frames:
        try:
            block = frames.block()
        except RuntimeError: # no debug information
            block = None
        while block and not block.is_global and not block.is_static:
            for symbol in block:
                if not (symbol.is_variable or symbol.is_argument):
                    continue
                of = symbol.type.strip_typedefs()
                of = of.target().strip_typedefs().unqualified() if of.code == gdb.TYPE_CODE_PTR else of
                if of.name not in kinds or symbol.type.strip_typedefs().code != gdb.TYPE_CODE_PTR:
                    continue
                try:
                    value = frames.read_var(symbol, block)
                    found = kinds[of.name](value) if not value.is_optimized_out and value else None
                    if found and int(found["n_workers"]) < 100000 and found["platform"]:
                        return found
                except gdb.error: # a variable that has no value yet
                    continue
            block = block.superblock
        frames = frames.older()
    return None


def find_runtime(expression):
    if expression:
        return gdb.parse_and_eval(expression)
    here = gdb.selected_thread()
    if here is None:
        raise gdb.GdbError("there is no program yet: run it, or open a core file")
    try:
        for thread in [here] + [t for t in gdb.selected_inferior().threads() if t != here]:
            thread.switch()
            found = look_in_frames(gdb.newest_frame())
            if found:
                return found
    finally:
        here.switch()
    raise gdb.GdbError("no variable of any frame points to a runtime: give one, as in `heddle tasks rt`")


def waits_for(runtime, task, state):
    if state == "waiting":
        return f"for {int(task['pending'])} data or tasks"
    if state == "ready":
        return f"policy {text(runtime['sched']['policy']['name'], '?')} has it"
    if state == "picked":
        return f"for its data on {name_of_worker(runtime, int(task['worker']))}" if task["codelet"] else ""
    if state == "released" or not task["codelet"]:
        return ""
    return "on " + name_of_worker(runtime, int(task["worker"]))


def show_tasks(argument):
    runtime = find_runtime(argument)
    tasks = each_task(runtime)
    print(f"{len(tasks)} unfinished tasks")
    for task in tasks:
        state = state_of(task)
        more = f", priority {int(task['priority'])}" if int(task["priority"]) else ""
        more += ", will be cancelled" if int(task["cancelled"]) else ""
        print(f"  {name_of_task(task):<40} {state} {waits_for(runtime, task, state)}{more}")
        for i in range(int(task["n_accesses"]) if state != "released" else 0):
            access = task["accesses"][i]
            mode = MODES.get(int(access["mode"]), str(int(access["mode"])))
            if not int(access["flags"]) & ALIAS:
                print(f"      {mode:<8} {name_of_datum(access['data'])} ({shape_of(access['data'])})")


def show_workers(argument):
    runtime = find_runtime(argument)
    for i in range(int(runtime["n_workers"])):
        worker = runtime["workers"][i]
        runs = [name_of_task(worker["slots"][k]["task"]) for k in range(int(worker["n_slots"]))
                if worker["slots"][k]["task"]]
        following, task = [], worker["staged"]["first"]
        while task:
            following.append(name_of_task(task))
            task = task["link"]["next"]
        print(f"  {name_of_worker(runtime, i):<16} {'runs ' + ', '.join(runs) if runs else 'idle'}"
              f"{'; next: ' + ', '.join(following) if following else ''}"
              f"{'; lost' if int(worker['lost']) else ''}")


def each_datum(runtime):
    datum = runtime["handles"]["list"]
    while datum:
        yield datum
        datum = datum["next"]


def valid_on(datum):
    runtime = datum["rt"]
    return [i for i in range(int(runtime["n_nodes"])) if int(datum["replicas"][i]["valid"])]


def name_of_node(runtime, i):
    return text(runtime["platform"]["nodes"][i]["name"], str(i))


def length_of_queue(datum):
    n, access = 0, datum["queue"]
    while access:
        n, access = n + 1, access["next"]
    return n


def show_data(argument):
    runtime = find_runtime(argument)
    for datum in each_datum(runtime):
        where = ", ".join(name_of_node(runtime, i) for i in valid_on(datum)) or "nowhere"
        print(f"  {name_of_datum(datum):<24} {shape_of(datum)}, valid on {where}; {int(datum['granted'])} have it, "
              f"{length_of_queue(datum)} wait")


def show_datum(argument):
    if not argument:
        raise gdb.GdbError("which datum? `heddle datum x`, where x is a heddle_data *; `heddle data` lists all")
    datum = gdb.parse_and_eval(argument)
    runtime = datum["rt"]
    lost = ", its value was not computed" if int(datum["poisoned"]) else ""
    print(f"{name_of_datum(datum)}: {shape_of(datum)}{lost}")
    for i in range(int(runtime["n_nodes"])):
        copy = datum["replicas"][i]
        if not copy["ptr"]:
            continue
        facts = [word for field, word in (("valid", "valid"), ("incoming", "a transfer brings it"),
                                          ("user_buffer", "the program's buffer")) if int(copy[field])]
        print(f"  copy on {name_of_node(runtime, i):<12} {copy['ptr']}: {', '.join(facts) or 'out of date'}, "
              f"{int(copy['pins'])} pins")
    holders = [t for t in each_task(runtime) if state_of(t) != "released"
               for i in range(int(t["n_accesses"])) if int(t["accesses"][i]["data"]) == int(datum)
               and not int(t["accesses"][i]["flags"]) & ALIAS]
    waiting, access = [], datum["queue"]
    while access:
        waiting.append((task_of(access), MODES.get(int(access["mode"]), "?")))
        access = access["next"]
    late = {int(t) for t, _ in waiting}
    for task in holders:
        if int(task) not in late:
            print(f"  {name_of_task(task)} has it ({state_of(task)})")
    for task, mode in waiting:
        print(f"  {name_of_task(task)} waits for it, {mode}")


class Heddle(gdb.Command):
    __doc__ = __doc__
    commands = {"tasks": show_tasks, "workers": show_workers, "data": show_data, "datum": show_datum}

    def __init__(self):
        super().__init__("heddle", gdb.COMMAND_STATUS)

    def complete(self, _text, word):
        return [name for name in self.commands if name.startswith(word)]

    def invoke(self, argument, from_tty):
        name, _, rest = argument.strip().partition(" ")
        if name not in self.commands:
            raise gdb.GdbError("heddle " + "|".join(self.commands) + "; `help heddle` says more")
        if gdb.selected_thread() is not None and not words_of("hd_task_state", "HD_"):
            raise gdb.GdbError("libheddle has no debug information: install it with `make install`, which leaves it "
                               "there, and do not strip it")
        self.commands[name](rest.strip())


Heddle()
