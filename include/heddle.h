/* heddle.h - one task graph on every processor of a machine.
 *
 * This header brings in the whole public interface. The order below is the order in which a program meets it:
 *
 *   status.h    what every function returns, and how to ask what went wrong
 *   runtime.h   start and stop a runtime, its settings, waiting
 *   data.h      the data that tasks read and write
 *   task.h      codelets (what to run) and tasks (one run of a codelet on some data)
 *   event.h     tasks that end later than their kernel
 *   group.h     waiting for the tasks of one part of a program
 *   platform.h  the description of a machine, real or not
 *   model.h     performance models
 *   clusters.h  which CPU workers are driven, changed while tasks run
 *   policy.h    scheduling policies, the shipped ones and your own
 *   driver.h    what a kind of processor must offer
 *   trace.h     what happened: events, charts, bounds
 *   graph.h     task graphs as values: recorded, read, written, simulated
 *   settings.h  the table of all settings, for tools
 *
 * A few headers are included besides, where they are needed: cuda.h and opencl.h by programs with kernels for such
 * devices, plugin.h and application.h by plug-ins, chart.h by programs that draw figures. Programs in C++ may include
 * heddle.hpp instead of this one.
 *
 * Rules that hold everywhere unless a comment says otherwise:
 *   errors      functions return 0 or a negative `heddle_status`; heddle_last_error() has the sentence. Outputs are
 *               written only on success. Nothing here aborts, exits or prints.
 *   NULL        where a function does not allow it: the function returns HEDDLE_E_INVALID, NULL, 0 or NAN; functions
 *               that free, stop or fill do nothing. Kernels, policies and callbacks get contexts, schedulers and tasks
 *               that are never NULL, and functions that read these do not check them.
 *   ownership   an object belongs to the runtime with which it was made, and ends with it at the latest. Strings
 *               passed in are copied. Pointers returned stay valid until the object they describe is destroyed.
 *   threads     every function may be called from any thread at any time, kernels and callbacks included; the functions
 *               that block say so and must not be called from a kernel or a callback, unless they say that, too.
 *   units       times are microseconds (double), sizes are bytes, bandwidths are MB/s = bytes per microsecond.
 */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <heddle/status.h>
#include <heddle/runtime.h>
#include <heddle/data.h>
#include <heddle/task.h>
#include <heddle/event.h>
#include <heddle/group.h>
#include <heddle/platform.h>
#include <heddle/model.h>
#include <heddle/clusters.h>
#include <heddle/policy.h>
#include <heddle/driver.h>
#include <heddle/trace.h>
#include <heddle/graph.h>
#include <heddle/settings.h>

#endif
