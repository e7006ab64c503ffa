/* Forks. A runtime belongs to the process that started it. In a child of fork the runtime's threads do not exist, and a
 * thread of the parent may have held the core lock at the moment of the fork. */
#include "process.h"
#include <pthread.h>
#include "runtime.h"

/* The number of forks between the process that loaded the library and the present process. Only written right after a
 * fork, while the child has one thread. */
static uint64_t forks;

static void begin_child(void)
{
	forks++;
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
	if (rt->process == HD_STOPPED)
		return hd_error(HEDDLE_E_STATE, "this runtime has been stopped: its data and tasks have ended");
	return hd_error(HEDDLE_E_STATE,
	                "this runtime belongs to the parent process: its threads do not exist in a child "
	                "of fork, which must start a runtime of its own");
}
