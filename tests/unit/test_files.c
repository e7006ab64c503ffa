/* Whole files: what is written, and through what. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "ok.h"

static char folder[] = "/tmp/heddle-files-XXXXXX";
static const char text[] = "new";

static char *in_folder(const char *name)
{
	char *path = hd_format("%s/%s", folder, name);
	assert_non_null(path);
	return path;
}

static void assert_holds(const char *path, const char *expected)
{
	char *data;
	size_t length;
	OK(hd_file_read(path, &data, &length));
	assert_string_equal(data, expected);
	free(data);
}

static unsigned kind_of(const char *path)
{
	struct stat there;
	assert_int_equal(lstat(path, &there), 0);
	return there.st_mode & S_IFMT;
}

static void link_stays_and_its_target_is_written(void **state)
{
	(void)state;
	char *target = in_folder("target"), *link = in_folder("link");
	OK(hd_file_write(target, "old", 3));
	assert_int_equal(symlink(target, link), 0);
	OK(hd_file_write(link, text, strlen(text)));
	assert_int_equal(kind_of(link), S_IFLNK);
	assert_holds(target, text);
	unlink(link);
	unlink(target);
	free(link);
	free(target);
}

static void pipe_is_written_as_it_is(void **state)
{
	(void)state;
	char *pipe = in_folder("pipe"), got[8] = "";
	assert_int_equal(mkfifo(pipe, 0600), 0);
	int end = open(pipe, O_RDONLY | O_NONBLOCK);
	assert_true(end >= 0);
	OK(hd_file_write(pipe, text, strlen(text)));
	assert_int_equal(kind_of(pipe), S_IFIFO);
	assert_int_equal(read(end, got, sizeof got - 1), strlen(text));
	assert_string_equal(got, text);
	close(end);
	unlink(pipe);
	free(pipe);
}

static void new_file_gets_the_mode_of_any_new_file(void **state)
{
	(void)state;
	char *path = in_folder("a/b/file");
	struct stat there;
	mode_t mask = umask(027);
	OK(hd_parents_make(path));
	OK(hd_file_write(path, text, strlen(text)));
	umask(mask);
	assert_int_equal(stat(path, &there), 0);
	assert_int_equal(there.st_mode & 0777, 0640);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	free(path);
}

static void file_that_is_replaced_keeps_its_mode(void **state)
{
	(void)state;
	char *path = in_folder("private");
	struct stat there;
	OK(hd_file_write(path, "old", 3));
	assert_int_equal(chmod(path, 0600), 0);
	OK(hd_file_write(path, text, strlen(text)));
	assert_holds(path, text);
	assert_int_equal(stat(path, &there), 0);
	assert_int_equal(there.st_mode & 07777, 0600);
	unlink(path);
	free(path);
}

static void all_names_of_a_file_stay_its_names(void **state)
{
	(void)state;
	char *path = in_folder("one"), *other = in_folder("other");
	OK(hd_file_write(path, "much longer than the new one", 28));
	assert_int_equal(link(path, other), 0);
	OK(hd_file_write(path, text, strlen(text)));
	assert_holds(other, text);
	unlink(path);
	unlink(other);
	free(path);
	free(other);
}

static void link_to_a_new_file_stays(void **state)
{
	(void)state;
	char *target = in_folder("new"), *link = in_folder("link");
	assert_int_equal(symlink(target, link), 0);
	OK(hd_file_write(link, text, strlen(text)));
	assert_int_equal(kind_of(link), S_IFLNK);
	assert_holds(target, text);
	unlink(link);
	unlink(target);
	free(link);
	free(target);
}

/* A device without an end, and a file that is larger than any memory but takes no room on the disk. */
static void what_never_ends_is_not_read(void **state)
{
	(void)state;
	char *path = in_folder("sparse"), *data;
	size_t length;
	assert_int_equal(hd_file_read("/dev/zero", &data, &length), HEDDLE_E_IO);
	assert_non_null(strstr(heddle_last_error(), "/dev/zero is no regular file and no pipe"));
	OK(hd_file_write(path, text, strlen(text)));
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	assert_int_equal(hd_file_read(path, &data, &length), HEDDLE_E_IO);
	assert_non_null(strstr(heddle_last_error(), "at most 4294967296 bytes"));
	unlink(path);
	free(path);
}

static void pipe_is_read_to_its_end(void **state)
{
	(void)state;
	int ends[2];
	char path[32];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	assert_holds(path, text);
	close(ends[0]);
}

static void message_has_no_character_that_a_terminal_obeys(void **state)
{
	(void)state;
	char shown[16];
	hd_file_read("/none/\033[2Jx\302\233y\377z\177/\303\244", &(char *){NULL}, &(size_t){0});
	assert_non_null(strstr(heddle_last_error(), "/none/\\x1b[2Jx\\xc2\\x9by\\xffz\\x7f/\303\244"));
	hd_printable(shown, 8, "a\tb\n\033\033");
	assert_string_equal(shown, "a\tb\n"); /* no half of an escape */
	hd_printable(shown, 6, "abcd\303\244");
	assert_string_equal(shown, "abcd");
}

static void missing_directory_is_named_and_not_made(void **state)
{
	(void)state;
	char *path = in_folder("none/file"), *directory = in_folder("none");
	assert_int_equal(hd_file_write(path, text, strlen(text)), HEDDLE_E_IO);
	assert_non_null(strstr(heddle_last_error(), "there is no directory"));
	assert_non_null(strstr(heddle_last_error(), directory));
	assert_int_equal(access(directory, F_OK), -1);
	free(path);
	free(directory);
}

static void file_larger_than_expected_is_not_read(void **state)
{
	(void)state;
	char *path = in_folder("large"), *data;
	size_t length;
	OK(hd_file_write(path, "123456789", 9));
	OK(hd_file_read_regular(path, 9, &data, &length));
	assert_int_equal(length, 9);
	free(data);
	assert_int_equal(hd_file_read_regular(path, 8, &data, &length), HEDDLE_E_IO);
	assert_non_null(strstr(heddle_last_error(), path));
	assert_non_null(strstr(heddle_last_error(), "8 bytes"));
	assert_int_equal(hd_file_read_regular("/dev/zero", 8, &data, &length), HEDDLE_E_IO);
	assert_non_null(strstr(heddle_last_error(), "/dev/zero is no regular file"));
	unlink(path);
	free(path);
}

/* As `ulimit -f` does. Nothing else is written meanwhile. */
static void file_that_may_not_be_so_large_is_an_error_and_leaves_nothing(void **state)
{
	(void)state;
	enum { LIMIT = 4096 };
	static char large[2 * LIMIT];
	struct rlimit before, small;
	char *path = in_folder("large");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){LIMIT, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int status = hd_file_write(path, large, sizeof large);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, HEDDLE_E_IO);
	assert_non_null(strstr(heddle_last_error(), "large"));
	assert_int_equal(rmdir(folder), 0);
	assert_non_null(mkdtemp(strcpy(folder, "/tmp/heddle-files-XXXXXX")));
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(link_stays_and_its_target_is_written),
	    cmocka_unit_test(pipe_is_written_as_it_is),
	    cmocka_unit_test(new_file_gets_the_mode_of_any_new_file),
	    cmocka_unit_test(file_that_is_replaced_keeps_its_mode),
	    cmocka_unit_test(all_names_of_a_file_stay_its_names),
	    cmocka_unit_test(link_to_a_new_file_stays),
	    cmocka_unit_test(what_never_ends_is_not_read),
	    cmocka_unit_test(pipe_is_read_to_its_end),
	    cmocka_unit_test(message_has_no_character_that_a_terminal_obeys),
	    cmocka_unit_test(missing_directory_is_named_and_not_made),
	    cmocka_unit_test(file_larger_than_expected_is_not_read),
	    cmocka_unit_test(file_that_may_not_be_so_large_is_an_error_and_leaves_nothing),
	};
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
