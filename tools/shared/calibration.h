/* What `heddle platform calibrate` measures besides kernels one at a time. */
#ifndef HD_SHARED_CALIBRATION_H
#define HD_SHARED_CALIBRATION_H

#include <heddle/platform.h>
#include <heddle/runtime.h>

/* Measures how the kernels that a device of a kind runs at once share it, if `config` gives it more than one stream,
 * and writes that to the device's class in `platform`. The kernels are products of tiles of order `tile` in double
 * precision, on the first device of the kind. TOOL_OK, or a message and TOOL_FAILURE. */
int calibrate_sharing(const struct heddle_config *config, const char *kind, size_t tile,
                      struct heddle_platform *platform);
/* How many streams `config` gives to devices of the i-th kind that has some, "cuda" ...; *kind becomes its name. NULL:
 * there is no i-th kind. The field may be changed. */
int *calibration_streams(struct heddle_config *config, size_t i, const char **kind);

/* The sentence that says when, where and by what the platform was measured. The caller frees it. */
char *calibration_source(const struct heddle_platform *platform);

#endif
