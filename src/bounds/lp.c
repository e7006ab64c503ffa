/* Runs GLPK apart from the program's own use of it. */
#include <glpk.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/internal.h"

struct call {
	int (*work)(void *arg);
	void *arg;
	int status; /* out */
	jmp_buf failed;
	char said[256];    /* GLPK's last message */
	char message[512]; /* heddle_last_error of that thread, to be passed on to the caller's */
};

static int swallow(void *arg, const char *message)
{
	struct call *call = arg;
	size_t length = strcspn(message, "\n");
	if (length > 0)
		snprintf(call->said, sizeof call->said, "%.*s", (int)(length < 200 ? length : 200), message);
	return 1;
}

static void give_up(void *arg)
{
	struct call *call = arg;
	longjmp(call->failed, 1);
}

static void *run(void *arg)
{
	struct call *call = arg;
	if (setjmp(call->failed)) {
		call->status = HEDDLE_E_UNSUPPORTED;
		snprintf(call->message, sizeof call->message, "GLPK cannot solve a linear program: %s", call->said);
	} else {
		glp_term_hook(swallow, call);
		glp_error_hook(give_up, call);
		glp_term_out(GLP_OFF);
		call->status = call->work(call->arg);
		if (call->status)
			snprintf(call->message, sizeof call->message, "%s", heddle_last_error());
	}
	glp_free_env();
	return NULL;
}

int hd_lp_run(int (*work)(void *arg), void *arg)
{
	pthread_t thread;
	struct call *call = calloc(1, sizeof *call);
	if (!call)
		return hd_no_memory("a linear program");
	call->work = work;
	call->arg = arg;
	int status = 0;
	if (pthread_create(&thread, NULL, run, call) != 0) {
		status = hd_error(HEDDLE_E_MEMORY, "no thread for a linear program");
	} else {
		pthread_join(thread, NULL);
		if (call->status)
			status = hd_error(call->status, "%s", call->message);
	}
	free(call);
	return status;
}
