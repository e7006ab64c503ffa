/* The status that functions return, and the message that says what went wrong. */
#ifndef HEDDLE_STATUS_H
#define HEDDLE_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0 means success, a negative value an error, a positive one that the work has not ended. */
enum heddle_status {
	HEDDLE_OK = 0,
	HEDDLE_PENDING = 1,      /* asynchronous work was started and has not ended */
	HEDDLE_E_INVALID = -1,   /* an argument is wrong */
	HEDDLE_E_MEMORY = -2,    /* the host is out of memory */
	HEDDLE_E_NO_FIT = -3,    /* the data of one task are larger than a memory node */
	HEDDLE_E_NO_WORKER = -4, /* no worker of this runtime can run the task */
	HEDDLE_E_KERNEL = -5,    /* a kernel returned non-zero */
	HEDDLE_E_CANCELLED = -6, /* a task was not run, because a task on which it depends failed */
	HEDDLE_E_IO = -7,        /* a file could not be read or written */
	HEDDLE_E_FORMAT = -8,    /* the contents of a file, or the text of a setting, are wrong */
	/* there is no policy, platform, option ... of that name; the message lists the names that exist */
	HEDDLE_E_UNKNOWN = -9,
	HEDDLE_E_STATE = -10,       /* the object is not in a state that allows the call */
	HEDDLE_E_UNSUPPORTED = -11, /* this build or this machine cannot do it */
	HEDDLE_E_DEADLOCK = -12,    /* nothing can make progress; the message says which tasks wait for what */
	/* an accelerator is lost: it cannot be used any more; the message says why, and which values and tasks are
	 * lost */
	HEDDLE_E_DEVICE = -13,
	/* the checking mode (the setting check) has found an action that the program has not declared; the message
	 * names task, datum and worker */
	HEDDLE_E_MISUSE = -14,
	/* the program has ended a wait (on_wait of struct heddle_config); the tasks go on */
	HEDDLE_E_INTERRUPTED = -15,
	HEDDLE_E_PEER = -16 /* another rank of the program does not answer (heddle/mpi.h) */
};

/* The name of a status, such as "HEDDLE_E_NO_FIT"; never NULL. */
const char *heddle_status_name(int status);

/* One sentence about the last call that failed in the calling thread: what is wrong, with the names of the objects
 * concerned, and what would be right. "" if no call has failed. Valid until the thread's next call that fails. */
const char *heddle_last_error(void);

/* If the message of heddle_last_error is about a task that failed: the value that the kernel returned, or with which
 * the event was fulfilled. Otherwise 0. A program that gives each of its failures a value of its own learns from the
 * value which failure a wait reports. */
int heddle_last_code(void);

/* Makes the sentence (printf-like) what heddle_last_error returns, and returns `status`. For policies, drivers and
 * libraries that use Heddle, whose errors are then reported like Heddle's own. */
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
