/* The table of functions through which the lower rooms, memory and graph, call this one. */
#include "dispatch.h"
#include "lost_device.h"
#include "task_life.h"
#include "state/flow_calls.h"

const struct hd_flow_calls hd_flow = {
    .ready = hd_core_on_ready,
    .insert = hd_core_insert,
    .end = hd_core_end,
    .staged = hd_core_staged,
    .restage = hd_core_restage,
    .lose = hd_core_lose,
    .lose_value = hd_lost_value,
};
