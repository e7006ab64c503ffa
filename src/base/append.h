/* Writing to an open file: what hd_file_write does with each. */
#ifndef HD_BASE_APPEND_H
#define HD_BASE_APPEND_H

#include <stddef.h>

/* Writes all bytes. Returns 0, or -1 with errno, which is EFBIG where the system would end the process (ulimit -f). */
int hd_file_append(int fd, const char *data, size_t length);

#endif
