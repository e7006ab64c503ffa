/* How many instructions a piece of work takes. Tests of how costs grow count these, for no clock tells the same twice.
 *
 * A test program that includes this gives its work names, and calls run_counted at the beginning of main. To count, it
 * is started anew below valgrind, with the name of the work and its size; only what is done below `counted` counts. */
#ifndef TEST_INSTRUCTIONS_H
#define TEST_INSTRUCTIONS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../sanitized.h"
#include "base/base.h"
#include "ok.h"

/* A program with a sanitizer cannot run below valgrind. */
enum { CAN_COUNT = !SANITIZED };

struct work {
	const char *name;
	void *(*prepare)(size_t n); /* what `counted` is then given */
	void (*counted)(void *scene);
};

/* In the program that is counted there is no test to fail. */
static inline void must(int status)
{
	if (status == 0)
		return;
	printf("%s: %s\n", heddle_status_name(status), heddle_last_error());
	exit(1);
}

/* By its name valgrind knows when to begin and to end. */
__attribute__((noinline, used)) static void counted(const struct work *work, void *scene)
{
	work->counted(scene);
}

/* 1 when the program was started to be counted, and has done its work. */
static inline int run_counted(int argc, char **argv, const struct work *works, size_t n_works)
{
	for (size_t i = 0; argc == 3 && i < n_works; i++) {
		if (strcmp(works[i].name, argv[1]) != 0)
			continue;
		counted(&works[i], works[i].prepare(strtoul(argv[2], NULL, 10)));
		return 1;
	}
	return 0;
}

/* Skips the test where valgrind is missing or does not know the processor's instructions, and below sanitizers. */
static inline double instructions_of(const char *work, size_t n)
{
	if (!CAN_COUNT)
		skip();
	char *command = hd_format(
	    "env -u MALLOC_PERTURB_ valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=counted "
	    "/proc/%ld/exe %s %zu 2>&1",
	    (long)getpid(), work, n);
	FILE *out = popen(command, "r");
	free(command);
	assert_non_null(out);
	char line[512], said[4096] = "";
	double found = -1;
	while (fgets(line, sizeof line, out)) {
		const char *at = strstr(line, "Collected : ");
		if (at)
			found = strtod(at + strlen("Collected : "), NULL);
		strncat(said, line, sizeof said - strlen(said) - 1);
	}
	int status = pclose(out);
	if (strstr(said, "not found") || strstr(said, "unhandled instruction"))
		skip();
	if (status || found < 0)
		fail_msg("valgrind: %s", said);
	return found;
}

#endif
