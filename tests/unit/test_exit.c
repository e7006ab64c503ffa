/* Programs that end without heddle_stop: the reports tell of what was until then. The test starts itself as such a
 * program. */
#include <errno.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <heddle/trace.h>
#include "internals.h"
#include "sanitized.h"
#include "scratch.h"

/* --- The programs ------------------------------------------------------------------------------------------------- */

static sem_t begun;

static int nothing(heddle_context *c)
{
	(void)c;
	return 0;
}

static int run_for_ever(heddle_context *c)
{
	sem_t never;
	(void)c;
	sem_init(&never, 0, 0);
	sem_post(&begun);
	while (sem_wait(&never) && errno == EINTR)
		;
	return 0;
}

static int end_program(heddle_context *c)
{
	(void)c;
	exit(0); /* in a kernel, while the program waits */
}

static heddle_runtime *start(int check)
{
	struct heddle_config config;
	heddle_runtime *rt;
	if (heddle_config_init(&config))
		exit(3);
	config.check = check;
	config.n_cpu = 2;
	config.n_cuda = config.n_opencl = 0;
	config.model_dir = "none";
	if (heddle_start(&config, &rt))
		exit(3);
	return rt;
}

static heddle_codelet *codelet(heddle_runtime *rt, const char *name, heddle_kernel kernel)
{
	heddle_codelet *c;
	if (heddle_codelet_create(rt, &(struct heddle_codelet_desc){.name = name, .cpu = kernel}, &c))
		exit(3);
	return c;
}

static void run_three(heddle_runtime *rt)
{
	heddle_codelet *c = codelet(rt, "three", nothing);
	for (int i = 0; i < 3; i++)
		heddle_submit(rt, heddle_call(c));
	if (heddle_wait_all(rt))
		exit(3);
}

static int is_readable(const char *path)
{
	struct heddle_trace *trace;
	int status = access(path, F_OK) ? HEDDLE_E_IO : heddle_trace_load(path, &trace);
	if (!status)
		heddle_trace_free(trace);
	return !status;
}

/* Runs tasks until there is a whole part of a journal, then the process ends at once. Without one its patience ends. */
static void die(heddle_runtime *rt, const char *journal)
{
	static const double patience_us = 30e6;
	heddle_codelet *c = codelet(rt, "more", nothing);
	double start = heddle_now(rt);
	while (!is_readable(journal) && heddle_now(rt) - start < patience_us)
		if (heddle_submit(rt, heddle_call(c)) || heddle_wait_all(rt))
			exit(3);
	raise(SIGKILL);
}

static heddle_runtime *last;
static heddle_codelet *again;

static int submit_again(heddle_context *c)
{
	(void)c;
	return heddle_submit(last, heddle_call(again));
}

/* Returns while tasks go on without end, and a journal is written. */
static void leave_busy(heddle_runtime *rt, const char *journal)
{
	enum { PATIENCE_S = 60 };
	alarm(PATIENCE_S); /* the process ends so if it does not end otherwise */
	again = codelet(rt, "again", submit_again);
	for (int i = 0; i < 16; i++)
		heddle_submit(rt, heddle_call(again));
	while (!is_readable(journal))
		;
}

static size_t count_threads(pid_t process)
{
	size_t n = 0;
	char *path = hd_format("/proc/%ld/task", (long)process);
	DIR *threads = opendir(path);
	for (const struct dirent *entry; threads && (entry = readdir(threads));)
		n += entry->d_name[0] != '.';
	if (threads)
		closedir(threads);
	free(path);
	return n;
}

/* Runs more tasks than a pipe has room for in a trace, and says how many threads the process has. */
static void run_many(heddle_runtime *rt)
{
	enum { N = 4000 };
	heddle_codelet *c = codelet(rt, "many", nothing);
	for (int i = 0; i < N; i++)
		heddle_submit(rt, heddle_call(c));
	if (heddle_wait_all(rt))
		exit(3);
	(void)fprintf(stderr, "%zu", count_threads(getpid()));
}

static void stop_last(void)
{
	heddle_stop(last);
}

/* Returns what main returns. */
static int program(const char *how)
{
	sem_init(&begun, 0, 0);
	if (strcmp(how, "handler") == 0)
		atexit(stop_last);
	heddle_runtime *rt = last = start(strcmp(how, "check") == 0);
	run_three(rt);
	if (strcmp(how, "running") == 0) {
		heddle_submit(rt, heddle_call(codelet(rt, "endless", run_for_ever)));
		while (sem_wait(&begun) && errno == EINTR)
			;
	} else if (strcmp(how, "kernel") == 0) {
		heddle_submit(rt, heddle_call(codelet(rt, "end", end_program)));
		heddle_wait_all(rt);
	} else if (strcmp(how, "killed") == 0) {
		char *journal = hd_format("%s.part", getenv("HEDDLE_TRACE"));
		die(rt, journal);
	} else if (strcmp(how, "busy") == 0) {
		char *journal = hd_format("%s.part", getenv("HEDDLE_TRACE"));
		leave_busy(rt, journal);
	} else if (strcmp(how, "many") == 0) {
		run_many(rt);
		heddle_stop(rt);
	} else if (strcmp(how, "inside") == 0) {
		hd_lock(&rt->lock);
	} else if (strcmp(how, "fork") == 0) {
		pid_t child = fork();
		if (child == 0)
			exit(0);
		waitpid(child, NULL, 0);
		_exit(0);
	} else if (strcmp(how, "stop") == 0) {
		heddle_stop(rt);
	}
	return 0;
}

/* --- What they leave ---------------------------------------------------------------------------------------------- */

/* Starts the program `how` in the directory of the test, with HEDDLE_TRACE and HEDDLE_RECORD set as given. */
static pid_t begin(const char *how, const char *trace, const char *record)
{
	char leaks[] = "ASAN_OPTIONS=detect_leaks=0"; /* what is not stopped is not freed */
	char *variables[] = {hd_format("HEDDLE_TRACE=%s", trace), hd_format("HEDDLE_RECORD=%s", record), leaks, NULL};
	char self[] = "/proc/self/exe", *const words[] = {self, hd_format("%s", how), NULL};
	posix_spawn_file_actions_t actions;
	pid_t child;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 2, file("said"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(posix_spawn(&child, self, &actions, NULL, words, variables), 0);
	posix_spawn_file_actions_destroy(&actions);
	free(words[1]);
	free(variables[0]);
	free(variables[1]);
	return child;
}

/* Runs it. Returns what the program has written to standard error; the caller frees it. A killed program dies by
 * SIGKILL, any other returns 0. */
static char *run(const char *how, const char *trace, const char *record)
{
	int status;
	size_t length;
	pid_t child = begin(how, trace, record);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, strcmp(how, "killed") == 0 ? SIGKILL : 0);
	return contents(file("said"), &length);
}

static void assert_ended_tasks(const char *path, size_t n)
{
	struct heddle_trace *trace;
	OK(heddle_trace_load(path, &trace));
	assert_int_equal(trace->n_tasks, n);
	heddle_trace_free(trace);
	unlink(path);
}

static void reports_of_a_program_that_returns_are_written(void **state)
{
	(void)state;
	char *said = run("return", file("a.trace"), file("a.json"));
	assert_non_null(
	    strstr(said, "heddle: the program has ended without heddle_stop, after 3 tasks, with 0 unfinished"));
	assert_ended_tasks(file("a.trace"), 3);
	assert_int_equal(access(file("a.json"), F_OK), 0);
	free(said);
}

static void tasks_that_run_at_the_end_are_left_out(void **state)
{
	(void)state;
	char *said = run("running", file("a.trace"), "");
	assert_non_null(strstr(said, "after 3 tasks, with 1 unfinished"));
	assert_ended_tasks(file("a.trace"), 3);
	free(said);
	said = run("kernel", file("a.trace"), "");
	assert_non_null(strstr(said, "after 3 tasks, with 1 unfinished"));
	assert_ended_tasks(file("a.trace"), 3);
	free(said);
}

static void nothing_is_said_where_nothing_is_missing(void **state)
{
	static const char *const ways[] = {"stop", "handler", "fork"};
	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		char *said = run(ways[i], file("a.trace"), "");
		assert_string_equal(said, "");
		assert_int_equal(access(file("a.trace"), F_OK) == 0, strcmp(ways[i], "fork") != 0);
		unlink(file("a.trace"));
		free(said);
	}
	char *said = run("return", "", "");
	assert_string_equal(said, "");
	free(said);
}

static void check_without_an_end_is_named(void **state)
{
	(void)state;
	char *said = run("check", "", "");
	assert_non_null(strstr(said, "what HEDDLE_CHECK finds at the end was not looked for"));
	free(said);
}

static void a_program_that_is_killed_leaves_its_journal(void **state)
{
	struct heddle_trace *trace;
	(void)state;
	free(run("killed", file("a.trace"), ""));
	assert_int_not_equal(access(file("a.trace"), F_OK), 0);
	OK(heddle_trace_load(file("a.trace.part"), &trace));
	assert_true(trace->n_tasks >= 3);
	assert_string_equal(trace->codelets[trace->tasks[0].codelet].name, "three");
	heddle_trace_free(trace);
	unlink(file("a.trace.part"));
}

/* The journal does not go on as long as there is something new. */
static void a_program_ends_whose_tasks_go_on_without_end(void **state)
{
	struct heddle_trace *trace;
	(void)state;
	char *said = run("busy", file("a.trace"), "");
	assert_non_null(strstr(said, "heddle: the program has ended without heddle_stop"));
	OK(heddle_trace_load(file("a.trace"), &trace));
	heddle_trace_free(trace);
	assert_int_not_equal(access(file("a.trace.part"), F_OK), 0);
	unlink(file("a.trace"));
	free(said);
}

/* The journal keeps what the trace has taken until that is written. Here it is written to a pipe that nobody reads. */
static void no_journal_is_written_beside_the_trace(void **state)
{
	char some[4096];
	int status;
	size_t length;
	(void)state;
	assert_int_equal(mkfifo(file("pipe.csv"), 0600), 0);
	pid_t child = begin("many", file("pipe.csv"), "");
	int trace = open(file("pipe.csv"), O_RDONLY); /* when the program has begun to write */
	assert_true(trace >= 0);
	char *said = contents(file("said"), &length);
	assert_int_equal(count_threads(child) + 1, strtoul(said, NULL, 10));
	free(said);
	while (read(trace, some, sizeof some) > 0)
		;
	close(trace);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Nobody gives the core lock back. */
static void end_inside_the_core_is_no_deadlock(void **state)
{
	(void)state;
	if (SANITIZED) {
		print_message("skipped: builds with sanitizers stop where the core lock is held and asked for again\n");
		skip();
	}
	char *said = run("inside", file("a.trace"), "");
	assert_non_null(strstr(said, "inside the library: there is no report"));
	free(said);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reports_of_a_program_that_returns_are_written),
	    cmocka_unit_test(tasks_that_run_at_the_end_are_left_out),
	    cmocka_unit_test(nothing_is_said_where_nothing_is_missing),
	    cmocka_unit_test(check_without_an_end_is_named),
	    cmocka_unit_test(a_program_that_is_killed_leaves_its_journal),
	    cmocka_unit_test(a_program_ends_whose_tasks_go_on_without_end),
	    cmocka_unit_test(no_journal_is_written_beside_the_trace),
	    cmocka_unit_test(end_inside_the_core_is_no_deadlock),
	};
	return argc > 1 ? program(argv[1]) : cmocka_run_group_tests(tests, set_up, tear_down);
}
