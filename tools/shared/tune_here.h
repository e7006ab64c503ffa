/* `heddle tune --here`: the tile that is fastest on this machine, found by real runs and kept for later ones. */
#ifndef HD_SHARED_TUNE_HERE_H
#define HD_SHARED_TUNE_HERE_H

#include "workload.h"

/* What a run with a tile takes, in seconds; NAN: it has failed. */
typedef double (*tile_time_fn)(size_t tile, void *arg);
/* Finds the tile that takes least time for matrices whose largest extent is n, among orders up to `most`, and never
 * above n. Runs each once, from the smallest up until tiles are clearly too large, and the fastest ones again. Returns
 * 0 if all have failed; *seconds: what the tile took at best. */
size_t tile_search(size_t n, size_t most, tile_time_fn time, void *arg, double *seconds);

/* Finds the tile of each routine, whose work has none, in a runtime that is started with `config`, keeps it, and prints
 * a table. TOOL_OK, or a message and TOOL_FAILURE or TOOL_USAGE. */
int tune_here(const struct heddle_config *config, struct work *works, size_t n, enum table_format format);

#endif
