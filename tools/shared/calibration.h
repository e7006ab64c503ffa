/* Measurements of `heddle platform calibrate` besides those of single kernels. */
#ifndef HD_SHARED_CALIBRATION_H
#define HD_SHARED_CALIBRATION_H

#include <heddle/platform.h>
#include <heddle/runtime.h>

/* If `config` gives devices of a kind more than one stream, measures how kernels that run at the same time share a
 * device, and writes the result to the device's class in `platform`. The kernels are products of tiles of order `tile`
 * in double precision, on the first device of the kind. TOOL_OK, or a message and TOOL_FAILURE. */
int calibrate_sharing(const struct heddle_config *config, const char *kind, size_t tile,
                      struct heddle_platform *platform);
/* The field of `config` with the number of streams for devices of the i-th kind that has streams; the caller may change
 * it. *kind becomes the kind's name, such as "cuda". NULL: there is no i-th kind. */
int *calibration_streams(struct heddle_config *config, size_t i, const char **kind);

/* The sentence that says when, where and by what the platform was measured. The caller frees it. */
char *calibration_source(const struct heddle_platform *platform);

#endif
