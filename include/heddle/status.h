/* What every function returns, and how to ask what went wrong. */
#ifndef HEDDLE_STATUS_H
#define HEDDLE_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0 is success, a negative value an error, a positive one "not yet". */
enum heddle_status {
	HEDDLE_OK = 0,
	HEDDLE_PENDING = 1,      /* asynchronous work was started and has not ended */
	HEDDLE_E_INVALID = -1,   /* an argument is wrong */
	HEDDLE_E_MEMORY = -2,    /* the host is out of memory */
	HEDDLE_E_NO_FIT = -3,    /* the data of one task are larger than a memory node */
	HEDDLE_E_NO_WORKER = -4, /* no worker of this runtime can run the task */
	HEDDLE_E_KERNEL = -5,    /* a kernel returned non-zero */
	HEDDLE_E_CANCELLED = -6, /* a task was not run because one it depends on failed */
	HEDDLE_E_IO = -7,        /* a file could not be read or written */
	HEDDLE_E_FORMAT = -8,    /* a file was read and its contents are wrong */
	/* no policy, platform, option ... of that name; the message lists those that exist */
	HEDDLE_E_UNKNOWN = -9,
	HEDDLE_E_STATE = -10,       /* the object is not in a state that allows the call */
	HEDDLE_E_UNSUPPORTED = -11, /* this build or this machine cannot do it */
	HEDDLE_E_DEADLOCK = -12     /* nothing can make progress; the message says which tasks wait for what */
};

/* The name of a status, such as "HEDDLE_E_NO_FIT"; never NULL. */
const char *heddle_status_name(int status);

/* One sentence about the last call that failed in the calling thread: what is wrong, with the names of the objects
 * concerned, and what would have been right. "" when none failed. Valid until the thread's next failing call. */
const char *heddle_last_error(void);

/* Leaves the sentence (printf-like) for heddle_last_error and returns `status`: for libraries built on this one and for
 * policies, so that their errors read like ours. */
int heddle_error(int status, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* The library's version, "major.minor.patch". */
const char *heddle_version(void);

#ifdef __cplusplus
}
#endif
#endif
