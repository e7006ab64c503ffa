/* Machines with clusters for tests, and what the system says of the threads of this process. */
#ifndef TEST_CLUSTER_H
#define TEST_CLUSTER_H

#include <dirent.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "program.h"

/* A platform with a worker for each number, which is that of its cores; 0 ends the list. None is bound. */
static inline struct heddle_platform *platform_of(const unsigned *cores)
{
	char yaml[1000] = "version: 1\nname: clusters\nnodes:\n- {name: ram}\nclasses:\n- {name: cpu, kind: cpu}\n";
	for (unsigned i = 0; i < 9; i++)
		sprintf(yaml + strlen(yaml), "- {name: cpu*%u, kind: cpu, cores: %u}\n", i + 2, i + 2);
	strcat(yaml, "workers:\n");
	for (unsigned i = 0; cores[i]; i++) {
		sprintf(yaml + strlen(yaml), "- {name: w%u, node: ram, class: cpu", i);
		if (cores[i] > 1)
			sprintf(yaml + strlen(yaml), "*%u", cores[i]);
		strcat(yaml, "}\n");
	}
	struct heddle_platform *p;
	assert_ok(heddle_platform_parse("clusters", yaml, strlen(yaml), &p));
	return p;
}

static inline heddle_runtime *start_clusters(const struct heddle_config *config, const unsigned *cores)
{
	heddle_runtime *rt;
	struct heddle_platform *p = platform_of(cores);
	assert_ok(heddle_start_on(config, p, 0, &rt));
	heddle_platform_free(p);
	return rt;
}

/* One worker, of k cores. */
static inline heddle_runtime *start_cluster(unsigned k)
{
	struct heddle_config config = small_config();
	return start_clusters(&config, (const unsigned[]){k, 0});
}

static inline int this_thread(void)
{
	return (int)syscall(SYS_gettid);
}

/* The state of a thread of this process: 'R' runs or could run, 'S' sleeps; 0: it has ended. */
static inline char thread_state(int thread)
{
	char path[64], text[512] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	const char *name_end = n ? strrchr(text, ')') : NULL;
	return name_end ? name_end[2] : 0;
}

/* How many threads of this process run or could run now. */
static inline unsigned runnable_threads(void)
{
	unsigned n = 0;
	DIR *all = opendir("/proc/self/task");
	for (struct dirent *entry; all && (entry = readdir(all));)
		n += entry->d_name[0] != '.' && thread_state(atoi(entry->d_name)) == 'R';
	if (all)
		closedir(all);
	return n;
}

#endif
