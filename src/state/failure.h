/* The failure that the next wait reports. The core lock guards it. */
#ifndef HD_STATE_FAILURE_H
#define HD_STATE_FAILURE_H

/* The first failure of a task that no wait has reported yet. */
struct hd_failure {
	int status;    /* 0: nothing has failed */
	int code;      /* what heddle_last_code will return */
	char *message; /* owned: the message; NULL: out of memory */
};
/* Notes a failure. `code` is for heddle_last_code; `sentence` is copied, or NULL. The first failure counts; but a
 * failure replaces a cancellation (HEDDLE_E_CANCELLED) that was noted before it. */
void hd_failure_note(struct hd_failure *f, int status, int code, const char *sentence);
/* Whether hd_failure_note with this status would replace the failure that is noted now. */
int hd_failure_counts(const struct hd_failure *f, int status);
void hd_failure_clear(struct hd_failure *f);
void hd_failure_free(struct hd_failure *f); /* frees a record that calloc has made; NULL is allowed */
/* Makes the noted failure the last error of the calling thread, and clears it. Returns its status, or 0 if nothing has
 * failed. */
int hd_failure_report(struct hd_failure *f);

#endif
