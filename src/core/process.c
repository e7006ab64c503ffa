/* Forks: a runtime belongs to the process that started it. In a child its threads do not exist, and one of them may
 * have held the lock. */
#include <pthread.h>
#include "runtime.h"

/* Forks that led from the process which loaded the library to this one. Written only in a child that has one thread
 * yet. */
static uint64_t forks;

static void begin_child(void)
{
	forks++;
	hd_inbox_forget();
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, begin_child);
}

uint64_t hd_process(void)
{
	return forks;
}

int hd_check_process(const heddle_runtime *rt)
{
	if (HD_LIKELY(rt->process == forks))
		return 0;
	return hd_error(HEDDLE_E_STATE,
	                "this runtime belongs to the parent process: its threads do not exist in a child "
	                "of fork, which must start a runtime of its own");
}
