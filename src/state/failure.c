/* Keeps the first failure of a task until a wait reports it. */
#include "failure.h"
#include <stdlib.h>
#include <heddle/runtime.h>
#include "base/base.h"

int hd_failure_counts(const struct hd_failure *f, int status)
{
	return !f->status || (f->status == HEDDLE_E_CANCELLED && status != HEDDLE_E_CANCELLED);
}

void hd_failure_note(struct hd_failure *f, int status, int code, const char *sentence)
{
	if (!hd_failure_counts(f, status))
		return;
	char *copy = sentence ? hd_format("%s", sentence) : NULL;
	hd_failure_clear(f);
	*f = (struct hd_failure){status, code, copy};
}

void hd_failure_clear(struct hd_failure *f)
{
	free(f->message);
	*f = (struct hd_failure){0};
}

void hd_failure_free(struct hd_failure *f)
{
	if (f)
		hd_failure_clear(f);
	free(f);
}

int hd_failure_report(struct hd_failure *f)
{
	int status = f->status;
	if (status)
		hd_error_of_task(status, f->code, f->message ? f->message : "a task failed");
	hd_failure_clear(f);
	return status;
}
