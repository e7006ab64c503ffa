/* What the next wait reports. The core lock guards it. */
#ifndef HD_FAILURE_H
#define HD_FAILURE_H

/* The first failure since the last wait that has reported one. */
struct hd_failure {
	int status;    /* 0: nothing has failed */
	int code;      /* of heddle_last_code */
	char *message; /* owned: the sentence for it; NULL: out of memory */
};
/* Notes a failure, with the code of heddle_last_code and a sentence that is copied or NULL. The first one counts, but
 * no task is reported as cancelled if another has failed. */
void hd_failure_note(struct hd_failure *f, int status, int code, const char *sentence);
/* Whether a failure with that status would count. */
int hd_failure_counts(const struct hd_failure *f, int status);
void hd_failure_clear(struct hd_failure *f);
/* Makes it the error of the calling thread and clears it. Returns its status, or 0 if nothing has failed. */
int hd_failure_report(struct hd_failure *f);

#endif
