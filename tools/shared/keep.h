/* Codelets that run on some classes of workers only: the option --keep. */
#ifndef HD_SHARED_KEEP_H
#define HD_SHARED_KEEP_H

#include <heddle/platform.h>

/* Takes the times of codelets on all other classes of the platform away, as `list` says:
 * "CODELET=CLASS+CLASS,CODELET=CLASS". Without a time a class cannot run the codelet in virtual time. Clusters must be
 * formed before, since each of their classes has times of its own. TOOL_OK, or a message and TOOL_USAGE; then some may
 * be gone. */
int tool_keep(struct heddle_platform *platform, const char *list);

#endif
