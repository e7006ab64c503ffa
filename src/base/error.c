/* The thread's last error, and the names of statuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base.h"

static _Thread_local struct hd_sentence last_error; /* each thread uses its own */

int heddle_error(int status, const char *format, ...)
{
	va_list args;
	char text[sizeof last_error.text];
	va_start(args, format);
	hd_print_list(text, sizeof text, format, args);
	va_end(args);
	hd_printable(last_error.text, sizeof last_error.text, text);
	last_error.status = status;
	last_error.code = 0;
	return status;
}

/* The library calls heddle_error by the name hd_error, which base.h declares cold. */
int hd_error(int status, const char *format, ...) __attribute__((alias("heddle_error")));

int hd_error_context(int status, const char *format, ...)
{
	char old[sizeof last_error.text / 2];
	last_error.status = status;
	snprintf(old, sizeof old, "%.*s", (int)sizeof old - 1, last_error.text);
	va_list args;
	va_start(args, format);
	char text[sizeof last_error.text];
	int n = hd_print_list(text, sizeof text, format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof text)
		snprintf(text + n, sizeof text - (size_t)n, ": %.500s", old);
	hd_printable(last_error.text, sizeof last_error.text, text);
	return status;
}

int hd_error_of_task(int status, int code, const char *sentence)
{
	hd_error(status, "%s", sentence);
	last_error.code = code;
	return status;
}

void hd_error_clear(void)
{
	last_error.text[0] = 0;
	last_error.status = last_error.code = 0;
}

void hd_error_keep(struct hd_sentence *kept)
{
	kept->status = last_error.status;
	kept->code = last_error.code;
	memcpy(kept->text, last_error.text, strlen(last_error.text) + 1);
}

void hd_error_give_back(const struct hd_sentence *kept)
{
	last_error.status = kept->status;
	last_error.code = kept->code;
	memcpy(last_error.text, kept->text, strlen(kept->text) + 1);
}

int hd_error_status(void)
{
	return last_error.status;
}

int hd_no_memory(const char *what)
{
	return hd_error(HEDDLE_E_MEMORY, "out of memory for %s", what);
}

const char *heddle_last_error(void)
{
	return last_error.text;
}

int heddle_last_code(void)
{
	return last_error.code;
}

const char *heddle_status_name(int status)
{
	switch (status) {
	case HEDDLE_OK: return "HEDDLE_OK";
	case HEDDLE_PENDING: return "HEDDLE_PENDING";
	case HEDDLE_E_INVALID: return "HEDDLE_E_INVALID";
	case HEDDLE_E_MEMORY: return "HEDDLE_E_MEMORY";
	case HEDDLE_E_NO_FIT: return "HEDDLE_E_NO_FIT";
	case HEDDLE_E_NO_WORKER: return "HEDDLE_E_NO_WORKER";
	case HEDDLE_E_KERNEL: return "HEDDLE_E_KERNEL";
	case HEDDLE_E_CANCELLED: return "HEDDLE_E_CANCELLED";
	case HEDDLE_E_IO: return "HEDDLE_E_IO";
	case HEDDLE_E_FORMAT: return "HEDDLE_E_FORMAT";
	case HEDDLE_E_UNKNOWN: return "HEDDLE_E_UNKNOWN";
	case HEDDLE_E_STATE: return "HEDDLE_E_STATE";
	case HEDDLE_E_UNSUPPORTED: return "HEDDLE_E_UNSUPPORTED";
	case HEDDLE_E_DEADLOCK: return "HEDDLE_E_DEADLOCK";
	case HEDDLE_E_DEVICE: return "HEDDLE_E_DEVICE";
	case HEDDLE_E_MISUSE: return "HEDDLE_E_MISUSE";
	case HEDDLE_E_INTERRUPTED: return "HEDDLE_E_INTERRUPTED";
	case HEDDLE_E_PEER: return "HEDDLE_E_PEER";
	}
	return "unknown status";
}

const char *heddle_version(void)
{
	return HD_VERSION;
}
