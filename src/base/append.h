/* Writing to an open file, for hd_file_write and others. */
#ifndef HD_BASE_APPEND_H
#define HD_BASE_APPEND_H

#include <stddef.h>

/* Writes all bytes. Returns 0, or -1 with errno set. errno is EFBIG where the system would otherwise end the process
 * (ulimit -f). */
int hd_file_append(int fd, const char *data, size_t length);

#endif
