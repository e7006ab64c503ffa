/* Appends bytes to a file that is open. */
#ifndef HD_BASE_APPEND_H
#define HD_BASE_APPEND_H

#include <stddef.h>

/* Writes all `length` bytes to `fd`. Returns 0, or -1 with the reason in errno. If the file would exceed the process's
 * limit (ulimit -f), errno is EFBIG, and the signal SIGXFSZ does not end the process. */
int hd_file_append(int fd, const char *data, size_t length);

#endif
