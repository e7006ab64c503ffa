/* Programs with more rights than their caller (setuid): the caller's variables have no say. The test starts a copy of
 * itself that belongs to another user, which takes the rights of root. */
#include <fcntl.h>
#include <heddle/settings.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "sanitized.h"
#include "scratch.h"

enum { TRUSTED = 10, OBEYED, IGNORED };

/* In the copy. */
static int obeys_variables(void)
{
	struct heddle_config config;
	if (!getauxval(AT_SECURE))
		return TRUSTED;
	if (heddle_config_init(&config))
		return OBEYED; /* it has refused what a variable says */
	return config.n_cpu == 77 || *config.plugins || config.window == 99 ? OBEYED : IGNORED;
}

static int copy_of_another_user(const char *to)
{
	char *data;
	size_t length;
	enum { NOBODY = 65534 };
	OK(hd_file_read("/proc/self/exe", &data, &length));
	OK(hd_file_write(to, data, length));
	free(data);
	return chown(to, NOBODY, NOBODY) || chmod(to, 04755) ? -1 : 0;
}

static int run(const char *program, const char *const *variables)
{
	const char *const words[] = {program, "copy", NULL};
	pid_t child;
	int status;
	if (posix_spawn(&child, program, NULL, NULL, (char *const *)(uintptr_t)words,
	                (char *const *)(uintptr_t)variables))
		return -1;
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void variables_of_the_caller_are_not_read(void **state)
{
	(void)state;
	const char *program = file("copy");
	char *config = hd_format("HEDDLE_CONFIG=%s", file("config"));
	const char *const variables[] = {"HEDDLE_NCPU=77", "HEDDLE_PLUGINS=./foreign.so",
	                                 "HEDDLE_WIND"
	                                 "OV=1",
	                                 config, NULL};
	assert_int_equal(chmod(directory, 0755), 0);
	OK(hd_file_write(file("config"), "window = 99\n", 12));
	int result = SANITIZED || copy_of_another_user(program) ? TRUSTED : run(program, variables);
	free(config);
	if (result == TRUSTED) {
		print_message("skipped: a sanitizer does not start there, only root can make a program that runs with "
		              "another user's rights, and only "
		              "on a file system that is not mounted nosuid\n");
		skip();
	}
	assert_int_equal(result, IGNORED);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(variables_of_the_caller_are_not_read),
	};
	(void)argv;
	return argc > 1 ? obeys_variables() : cmocka_run_group_tests(tests, set_up, tear_down);
}
