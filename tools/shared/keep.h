/* Codelets that run on some classes of workers only: the option --keep. */
#ifndef HD_SHARED_KEEP_H
#define HD_SHARED_KEEP_H

#include <heddle/platform.h>

/* Keeps the times of codelets only on the classes that `list` names, and removes their times on all other classes of
 * the platform: "CODELET=CLASS+CLASS,CODELET=CLASS". Without a time a class cannot run the codelet in virtual time.
 * Clusters must be formed before, since each of their classes has times of its own. TOOL_OK, or a message and
 * TOOL_USAGE; then some times may have been removed. */
int tool_keep(struct heddle_platform *platform, const char *list);

#endif
