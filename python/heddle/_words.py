"""The words of the C library in the sentences that it has for Python programs: its functions by their names here."""
from __future__ import annotations

import functools
import re

# What a function, or a structure, of C is called in Python. Functions of kernels in C, heddle_get and the like, are not
# here: who has written such a kernel knows them.
NAMES = {
    # running tasks
    "heddle_start": "heddle.Runtime()",
    "heddle_start_on": "heddle.Runtime(platform=...)",
    "heddle_config": "the settings",
    "heddle_config_init": "heddle.Runtime()",
    "heddle_setting_set": "heddle.Runtime()",
    "heddle_stop": "Runtime.close()",
    "heddle_wait_all": "Runtime.wait()",
    "heddle_cancel_all": "Runtime.close()",
    "heddle_submit": "Runtime.submit()",
    "heddle_submit_items": "Runtime.submit()",
    "heddle_after": "after=",
    "heddle_in_group": "group=",
    "heddle_on": "worker=",
    "heddle_priority": "priority=",
    "heddle_task_wait": "Task.wait()",
    "heddle_task_done": "Task.done",
    "heddle_task_release": "the end of a Task",
    "heddle_group_create": "Runtime.group()",
    "heddle_group_wait": "Group.wait()",
    "heddle_group_cancel": "Group.cancel()",
    "heddle_group_free": "the end of a Group",
    "heddle_codelet_create": "heddle.kernel()",
    "heddle_library_load": "heddle.load()",
    "heddle_runtime_policy": "Runtime.policy",
    "heddle_runtime_platform": "Runtime.platform",
    "heddle_runtime_stats": "Runtime.stats()",
    "heddle_now": "Runtime.now()",
    "heddle_selfcheck": "Runtime.check()",
    # data
    "heddle_variable": "Runtime.data()",
    "heddle_vector": "Runtime.data()",
    "heddle_matrix": "Runtime.data()",
    "heddle_tensor": "Runtime.data()",
    "heddle_acquire": "Data.acquire()",
    "heddle_release": "Acquired.release()",
    "heddle_unregister": "Data.unregister()",
    "heddle_unregister_async": "Data.unregister() after the task",
    "heddle_prefetch": "Data.prefetch()",
    "heddle_forget": "Data.forget()",
    "heddle_copy": "Data.copy_from()",
    "heddle_unordered": "unordered()",
    "heddle_pause": "Runtime.pause()",
    "heddle_resume": "Runtime.resume()",
    "heddle_outside": "Runtime.outside()",
    "heddle_fulfill": "Event.fulfill()",
    "heddle_event_fail": "Event.fail()",
    "heddle_data_set_name": "Data.set_name()",
    "heddle_data_set_reduction": "Data.reduction()",
    "heddle_data_part": "Data.acquire()",
    "heddle_partition": "Data.split()",
    "heddle_unpartition": "Pieces.join()",
    "heddle_child": "Data.split()",
    "heddle_plan_create": "Data.plan()",
    "heddle_plan_child": "Data.plan()",
    "heddle_plan_destroy": "Plan.end()",
    # heddle.sparse
    "heddle_sparse_open": "QR()",
    "heddle_sparse_close": "Runtime.close()",
    "heddle_sparse_analyse": "QR()",
    "heddle_sparse_analysis_free": "QR.close()",
    "heddle_sparse_qr_create": "QR()",
    "heddle_sparse_qr_destroy": "QR.close()",
    "heddle_sparse_factorise": "QR.factorise()",
    "heddle_sparse_solve": "QR.solve()",
    "heddle_sparse_apply_q": "QR.apply_q()",
    "heddle_sparse_r": "QR.r()",
    "heddle_sparse_matrix_free": "QR.r()",
    "heddle_sparse_column_order": "QR.order",
    "heddle_sparse_analysis_statistics": "QR.statistics",
    "heddle_sparse_deficient_columns": "QR.deficient_columns",
    # heddle.fmm
    "heddle_fmm_open": "FMM()",
    "heddle_fmm_close": "Runtime.close()",
    "heddle_fmm_plan_create": "FMM()",
    "heddle_fmm_plan_destroy": "FMM.close()",
    "heddle_fmm_evaluate": "FMM.evaluate()",
    "heddle_fmm_plan_statistics": "FMM.statistics",
    # graphs, traces, platforms
    "heddle_graph_check": "heddle.Graph()",
    "heddle_graph_load": "Graph.load()",
    "heddle_graph_save": "Graph.save()",
    "heddle_graph_edges": "Graph.edges()",
    "heddle_graph_time": "Graph.time()",
    "heddle_graph_bounds": "Graph.bounds()",
    "heddle_graph_record": "Runtime.record()",
    "heddle_graph_submit": "Runtime.run_graph()",
    "heddle_trace_take": "Runtime.take_trace()",
    "heddle_trace_load": "heddle.Trace()",
    "heddle_trace_dag": "Trace.dag()",
    "heddle_trace_save": "Trace.save()",
    "heddle_trace_export": "Trace.export()",
    "heddle_trace_gantt": "Trace.gantt()",
    "heddle_trace_bounds": "Trace.bounds()",
    "heddle_trace_critical_path": "Trace.critical_path()",
    "heddle_trace_makespan": "Trace.makespan",
    "heddle_chart_lines": "heddle.chart()",
    "heddle_platform_copy": "heddle.Platform",
    "heddle_platform_load": "heddle.Platform()",
    "heddle_platform_parse": "Platform.parse()",
    "heddle_platform_names": "Platform.names()",
    "heddle_platform_configured": "Platform.here()",
    "heddle_platform_save": "Platform.save()",
    "heddle_platform_time": "Platform.time()",
    "heddle_platform_add_emulated": "Platform.add_emulated()",
    "heddle_platform_cluster": "Platform.cluster()",
    "heddle_policies": "heddle.policies()",
    "heddle_policy_register": "heddle.Policy",
    "heddle_policy_report": "Runtime.policy_report()",
}

# A name in a path, such as /tmp/heddle_start.yaml, in quotation marks, or of a file that "cannot be opened", or whose
# line is named, is the program's own.
_OWN = r"(?<![\w/.\"'-])(?<!cannot open )(?<!cannot read )(?<!cannot write )"
_NAME = re.compile(_OWN + r"(?:struct )?(heddle_\w+)(?![\w/]|\.\w|:\d)")
_SETTING = re.compile(_OWN + r"config\.(\w+)(?![\w/]|\.\w|:\d)")


@functools.lru_cache(maxsize=None)
def _settings() -> frozenset[str]:
    """What a struct heddle_config has; `config.` before anything else is a name of the program."""
    from ._ffi import ffi  # only now: _library says what to do where it is missing
    return frozenset(name for name, _ in ffi.typeof("struct heddle_config").fields)


def in_python(sentence: str, own: str = "") -> str:
    """A sentence of the library for somebody who knows the names of this package. What it has of the program's, `own`,
    stays as it is."""
    if own and own in sentence:
        before, _, after = sentence.partition(own)
        return in_python(before) + own + in_python(after, own)
    named = _NAME.sub(lambda found: NAMES.get(found[1], found[0]), sentence)
    return _SETTING.sub(lambda found: f"the setting {found[1]}" if found[1] in _settings() else found[0], named)
