/* Files of performance models: what is stored is read back, what is damaged is set aside; heddle/model.h. */
#include "perf_fixture.h"
#include <sys/wait.h>

static int exists(const char *dir, const char *name)
{
	char *path = hd_format("%s/%s", dir, name);
	int there = access(path, F_OK) == 0;
	free(path);
	return there;
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static void measure(struct hd_perf *perf)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, 6);
	for (unsigned i = 0; i < 600; i++) {
		unsigned class_id = i % 2, n = 1 + i / 2 % 3;
		double us = (class_id + n) * (1 + 0.1 * hd_rng_uniform(&rng)) / 3;
		hd_perf_record(entry_of(perf, &gemm, 1000.0 / 3 * n), class_id, us);
	}
}

static void measure_some(const char *dir)
{
	struct hd_perf *perf = open_perf(dir);
	measure(perf);
	record(entry_of(perf, &gemm, 7), 0, 3, 1e-3);
	assert_int_equal(hd_perf_save(perf), 0);
	assert_string_equal(hd_perf_warnings(perf), "");
	hd_perf_close(perf);
}

static char *read_model(const char *dir, const char *name, size_t *length)
{
	char *path = hd_format("%s/%s", dir, name), *data;
	assert_int_equal(hd_file_read(path, &data, length), 0);
	free(path);
	return data;
}

static void write_model(const char *dir, const char *name, const char *data, size_t length)
{
	char *path = hd_format("%s/%s", dir, name);
	assert_int_equal(hd_file_write(path, data, length), 0);
	free(path);
}

static void stored_models_are_read_back_unchanged(void **state)
{
	measure_some(*state);
	struct hd_perf *a = open_perf("none"), *b = open_perf(*state);
	measure(a);
	for (unsigned c = 0; c < 2; c++)
		for (int n = 1; n <= 3; n++) {
			const struct hd_perf_cell *x = &entry_of(a, &gemm, 1000.0 / 3 * n)->cells[c];
			const struct hd_perf_cell *y = &entry_of(b, &gemm, 1000.0 / 3 * n)->cells[c];
			assert_true(x->estimate == y->estimate && x->min == y->min && x->max == y->max);
			assert_int_equal(x->samples, y->samples);
			assert_near(y->m2, x->m2, 1e-12);
		}
	struct hd_perf_entry *few = entry_of(b, &gemm, 7);
	assert_int_equal(few->cells[0].samples, 3);
	record(few, 0, 1, 1); /* still at the start, where this does not fit */
	assert_near(few->cells[0].estimate, 1e-3, 1e-9);
	hd_perf_close(a);
	hd_perf_close(b);
}

static void unchanged_models_are_not_written(void **state)
{
	measure_some(*state);
	char *path = hd_format("%s/gemm.yaml", (const char *)*state);
	struct hd_perf *perf = open_perf(*state);
	entry_of(perf, &gemm, 7);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(hd_perf_save(perf), 0);
	assert_int_equal(count_files(*state), 0);
	record(entry_of(perf, &gemm, 7), 0, 1, 2);
	assert_int_equal(hd_perf_save(perf), 0);
	assert_int_equal(count_files(*state), 1);
	hd_perf_close(perf);
	free(path);
}

static void classes_of_another_platform_are_kept(void **state)
{
	measure_some(*state);
	struct hd_perf *perf;
	assert_int_equal(hd_perf_open(&other_machine, *state, 0, &perf), 0);
	struct hd_perf_entry *e = entry_of(perf, &gemm, 7);
	assert_int_equal(e->cells[1].samples, 3); /* cpu is class 1 there */
	assert_true(isnan(hd_perf_time(e, 0)));
	record(e, 0, 5, 77);
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	perf = open_perf(*state);
	assert_int_equal(entry_of(perf, &gemm, 1000)->cells[1].samples, 100);
	hd_perf_close(perf);
	struct heddle_model_entry *entries;
	size_t n;
	assert_int_equal(heddle_models_load(*state, &entries, &n), 0);
	assert_int_equal(n, 8);
	assert_string_equal(entries[4].class_name, other_name);
	assert_string_equal(entries[7].class_name, gpu_name);
	heddle_models_free(entries, n);
}

static void names_with_any_characters_are_stored(void **state)
{
	char longest[1001];
	memset(longest, 'x', 1000);
	longest[1000] = '\0';
	const char *names[] = {"a/b", "..",    "",      "a\nb: [\xff\x01", "null",     "100%",
	                       "~",   " lead", longest, "a%2Fb",           "\xc3\xa9", "1e5"};
	struct hd_perf *perf = open_perf(*state);
	for (size_t i = 0; i < COUNT(names); i++)
		record(entry_of(perf, &(struct heddle_codelet_desc){.name = names[i]}, 1), 0, 1, (double)(i + 1));
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	assert_int_equal(count_files(*state), COUNT(names));
	perf = open_perf(*state);
	for (size_t i = 0; i < COUNT(names); i++)
		assert_true(hd_perf_time(entry_of(perf, &(struct heddle_codelet_desc){.name = names[i]}, 1), 0) ==
		            (double)(i + 1));
	assert_string_equal(hd_perf_warnings(perf), "");
	hd_perf_close(perf);
}

/* Opens a directory whose gemm.yaml holds `data` and expects it to be set aside, whole, with a warning. */
static void assert_set_aside(const char *dir, const char *data, size_t length, const char *says)
{
	write_model(dir, "gemm.yaml", data, length);
	struct hd_perf *perf = open_perf(dir);
	struct hd_perf_entry *e = entry_of(perf, &gemm, 7);
	assert_true(isnan(hd_perf_time(e, 0)));
	if (exists(dir, "gemm.yaml") || !strstr(hd_perf_warnings(perf), "gemm.yaml.damaged") ||
	    !strstr(hd_perf_warnings(perf), says))
		fail_msg("%zu bytes, \"%.*s\": warnings \"%s\"", length, (int)length, data, hd_perf_warnings(perf));
	size_t kept_length;
	char *kept = read_model(dir, "gemm.yaml.damaged", &kept_length);
	assert_int_equal(kept_length, length);
	assert_memory_equal(kept, data, length);
	free(kept);
	record(e, 0, 2, 3);
	assert_int_equal(hd_perf_save(perf), 0);
	assert_true(exists(dir, "gemm.yaml"));
	hd_perf_close(perf);
	char *path = hd_format("%s/gemm.yaml.damaged", dir);
	assert_int_equal(unlink(path), 0);
	free(path);
}

static void file_cut_off_anywhere_is_set_aside(void **state)
{
	measure_some(*state);
	size_t length;
	char *data = read_model(*state, "gemm.yaml", &length);
	for (size_t n = 0; n + 1 < length; n += n < 150 || n + 60 > length ? 1 : 41) /* all but the last line's end */
		assert_set_aside(*state, data, n, "gemm.yaml");
	free(data);
}

static void file_of_another_version_is_set_aside(void **state)
{
	const char newer[] = "version: 2\ncodelet: gemm\nnovelty: {a: 1}\n";
	assert_set_aside(*state, newer, sizeof newer - 1, "version 2; this library reads version 1");
}

static void file_with_wrong_contents_is_set_aside(void **state)
{
	const char *head = "version: 1\ncodelet: gemm\nentries:\n";
	const struct {
		const char *head, *line, *says;
	} cases[] = {
	    {"ELF\x01\x02 garbage \xff\xfe", "", "gemm.yaml"},
	    {"# a comment\n\n- gemm\n", "", "gemm.yaml: line 3: "},
	    {"version: 1\ncodelet: potrf\nentries: []\n", "", "codelet \"potrf\""},
	    {head,
	     "- {class: cpu, footprint: 0x1, bytes: 8, flops: 0, samples: 3, rejected: 0, mean: 1 s, stddev: 0, min: "
	     "1, max: 1}\n",
	     "\"1 s\" is not a number"},
	    {head,
	     "- {class: cpu, footprint: 0x1, bytes: 8, flops: 0, samples: -3, rejected: 0, mean: 1, stddev: 0, min: 1, "
	     "max: 1}\n",
	     "whole number"},
	    {head,
	     "- {class: cpu, footprint: 0x1, bytes: 8, flops: 0, samples: 3, rejected: 0, mean: 9, stddev: 0, min: 1, "
	     "max: 1}\n",
	     "ascend"},
	    {head,
	     "- {class: cpu, footprint: 0x1, bytes: nan, flops: 0, samples: 3, rejected: 0, mean: 1, stddev: 0, min: "
	     "1, max: 1}\n",
	     "not a number"},
	    {head,
	     "- {class: cpu, footprint: 7, bytes: 8, flops: 0, samples: 3, rejected: 0, mean: 1, stddev: 0, min: 1, "
	     "max: 1}\n"
	     "- {class: cpu, footprint: 0x7, bytes: 8, flops: 0, samples: 3, rejected: 0, mean: 1, stddev: 0, min: 1, "
	     "max: 1}\n",
	     "twice"},
	    {head, "- {class: cpu, surprise: 1}\n", "surprise"},
	    {"version: 1\ncodelet: &x gemm\nentries: []\nboo: *x\n", "", "gemm.yaml"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *data = hd_format("%s%scomplete: true\n", cases[i].head, cases[i].line);
		assert_set_aside(*state, data, strlen(data), cases[i].says);
		free(data);
	}
}

static void second_damaged_file_does_not_replace_the_first(void **state)
{
	for (int i = 0; i < 3; i++) {
		write_model(*state, "gemm.yaml", "?", 1);
		struct hd_perf *perf = open_perf(*state);
		entry_of(perf, &gemm, 7);
		hd_perf_close(perf);
	}
	assert_true(exists(*state, "gemm.yaml.damaged") && exists(*state, "gemm.yaml.damaged.2") &&
	            exists(*state, "gemm.yaml.damaged.3"));
}

static void unreadable_file_is_reported_and_left_alone(void **state)
{
	char *path = hd_format("%s/gemm.yaml", (const char *)*state);
	assert_int_equal(mkdir(path, 0777), 0); /* unreadable even for root */
	struct hd_perf *perf = open_perf(*state);
	record(entry_of(perf, &gemm, 7), 0, 1, 2);
	assert_non_null(strstr(hd_perf_warnings(perf), "gemm.yaml"));
	assert_int_equal(hd_perf_save(perf), 0);
	assert_true(exists(*state, "gemm.yaml"));
	hd_perf_close(perf);
	free(path);
}

/* Hundred thousand levels, which libyaml would take half a minute to walk through. */
static void file_of_nested_lists_is_set_aside_at_once(void **state)
{
	static const char head[] = "# Heddle performance models of one codelet; see docs/models.md\nversion: 1\nx: ";
	static char text[sizeof head + 200000];
	memset(text, '[', sizeof text);
	memcpy(text, head, sizeof head - 1);
	write_model(*state, "gemm.yaml", text, sizeof text);
	struct hd_perf *perf = open_perf(*state);
	record(entry_of(perf, &gemm, 7), 0, 1, 2);
	assert_non_null(strstr(hd_perf_warnings(perf), "gemm.yaml: line "));
	hd_perf_close(perf);
}

static void pipe_or_device_is_reported_and_not_read(void **state)
{
	char *path = hd_format("%s/gemm.yaml", (const char *)*state);
	for (int device = 0; device < 2; device++) {
		assert_int_equal(device ? symlink("/dev/zero", path) : mkfifo(path, 0666), 0);
		struct hd_perf *perf = open_perf(*state);
		record(entry_of(perf, &gemm, 7), 0, 1, 2);
		assert_non_null(strstr(hd_perf_warnings(perf), "gemm.yaml is no regular file"));
		assert_int_equal(hd_perf_save(perf), 0);
		hd_perf_close(perf);
		size_t n;
		assert_int_equal(heddle_models_purge(*state, NULL, &n), 0);
		assert_int_equal(n, 0);
		assert_int_equal(unlink(path), 0);
	}
	free(path);
}

static void writers_at_once_never_leave_a_torn_file(void **state)
{
	measure_some(*state);
	pid_t child = fork();
	assert_true(child >= 0);
	struct hd_perf *perf = open_perf(*state);
	struct hd_perf_entry *e = entry_of(perf, &gemm, child ? 1e6 : 7);
	int failed = 0;
	for (int i = 0; i < 100; i++) {
		struct heddle_model_entry *entries;
		size_t n;
		hd_perf_record(e, 0, 1);
		failed |= hd_perf_save(perf) || heddle_models_load(*state, &entries, &n);
		if (!failed)
			heddle_models_free(entries, n);
	}
	hd_perf_close(perf);
	if (!child)
		_exit(failed);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(!failed && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(count_files(*state), 1);
}

static void directory_that_cannot_be_written_is_an_error_that_names_the_file(void **state)
{
	write_model(*state, "file", "x", 1);
	char *dir = hd_format("%s/file/models", (const char *)*state);
	struct hd_perf *perf = open_perf(dir);
	record(entry_of(perf, &gemm, 7), 0, 1, 2);
	assert_int_equal(hd_perf_save(perf), HEDDLE_E_IO);
	assert_non_null(strstr(heddle_last_error(), "file"));
	hd_perf_close(perf);
	free(dir);
}

/* What heddle_models_save_to promises: only the models that were measured since the last save, in place of the old. */
static void models_saved_to_a_directory_replace_those_of_the_same_codelets(void **state)
{
	measure_some(*state);
	struct hd_perf *perf = open_perf("none");
	record(entry_of(perf, &gemm, 7), 0, 5, 3.5);
	entry_of(perf, &power, 10); /* known, not measured */
	assert_int_equal(hd_perf_save(perf), 0);
	assert_int_equal(hd_perf_save_to(perf, *state), 0);
	hd_perf_close(perf);
	struct heddle_model_entry *e;
	size_t n;
	assert_int_equal(heddle_models_load(*state, &e, &n), 0);
	assert_int_equal(n, 1);
	assert_true(strcmp(e[0].codelet, "gemm") == 0 && e[0].samples == 5 && e[0].mean == 3.5);
	heddle_models_free(e, n);
	assert_false(exists(*state, "power.yaml"));
}

/* --- heddle/model.h ----------------------------------------------------------------------------------------------- */

static void listed_models_are_sorted_and_complete(void **state)
{
	measure_some(*state);
	write_model(*state, "notes.txt", "x", 1);
	struct hd_perf *perf = open_perf(*state);
	record(entry_of(perf, &power, 10), 1, 4, 2.5);
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	struct heddle_model_entry *e;
	size_t n;
	assert_int_equal(heddle_models_load(*state, &e, &n), 0);
	assert_int_equal(n, 8);
	assert_string_equal(e[0].codelet, "gemm");
	assert_string_equal(e[0].class_name, "cpu");
	assert_true(e[0].bytes == 7 && e[0].flops == 14 && e[0].footprint == 7 && e[0].samples == 3);
	for (size_t i = 1; i < 4; i++)
		assert_true(e[i].bytes > e[i - 1].bytes && e[i].stddev > 0 && e[i].samples == 100 &&
		            e[i].min < e[i].mean);
	assert_string_equal(e[7].codelet, "power");
	assert_true(e[7].mean == 2.5 && e[7].min == 2.5 && e[7].max == 2.5 && e[7].stddev == 0 && e[7].rejected == 0);
	heddle_models_free(e, n);
	write_model(*state, "gemm.yaml", "?", 1);
	assert_int_equal(heddle_models_load(*state, &e, &n), HEDDLE_E_FORMAT);
	assert_non_null(strstr(heddle_last_error(), "gemm.yaml"));
	assert_int_equal(n, 1); /* the others are there all the same */
	assert_string_equal(e[0].codelet, "power");
	heddle_models_free(e, n);
	assert_true(exists(*state, "gemm.yaml"));
}

static size_t two_regressors(const struct heddle_size *size, double *x, size_t max)
{
	if (max >= 2) {
		x[0] = size->bytes;
		x[1] = 1;
	}
	return 2;
}

static void listed_models_say_their_laws(void **state)
{
	const struct heddle_codelet_desc affine = {.name = "affine", .model = HEDDLE_MODEL_AFFINE};
	const struct heddle_codelet_desc linear = {
	    .name = "linear", .model = HEDDLE_MODEL_LINEAR, .regressors = two_regressors};
	measure_some(*state);
	struct hd_perf *perf = open_perf(*state);
	for (double bytes = 100; bytes < 2e4; bytes *= 2) {
		record(entry_of(perf, &power, bytes), 0, 8, 0.5 * bytes);
		record(entry_of(perf, &affine, bytes), 0, 8, 3 + bytes);
		record(entry_of(perf, &linear, bytes), 0, 8, 7 + 2 * bytes);
	}
	record(entry_of(perf, &power, 100), 1, 8, 9); /* too few sizes */
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	struct heddle_model_entry *e;
	size_t n, laws = 0;
	assert_int_equal(heddle_models_load(*state, &e, &n), 0);
	for (size_t i = 0; i < n; i++) {
		double a = 0, b = 0, c = 0;
		int fitted = strcmp(e[i].codelet, "gemm") && strcmp(e[i].class_name, cpu_name) == 0;
		assert_int_equal(e[i].law != NULL, fitted);
		if (!fitted)
			continue;
		laws++;
		if (strcmp(e[i].codelet, "power") == 0)
			assert_int_equal(sscanf(e[i].law, "%lf * bytes^%lf", &a, &b), 2);
		else if (strcmp(e[i].codelet, "affine") == 0)
			assert_int_equal(sscanf(e[i].law, "%lf * bytes^%lf + %lf", &a, &b, &c), 3);
		else
			assert_int_equal(sscanf(e[i].law, "%lf * x0 + %lf * x1", &a, &c), 2);
		assert_near(a, e[i].codelet[0] == 'p' ? 0.5 : e[i].codelet[0] == 'a' ? 1 : 2, 1e-3);
		assert_near(c, e[i].codelet[0] == 'p' ? 0 : e[i].codelet[0] == 'a' ? 3 : 7, 1e-2);
	}
	assert_int_equal(laws, 3 * 8);
	heddle_models_free(e, n);
}

/* Where data are kept by default, until restore_data_home, which is given what this returns. */
static char *move_data_home(const char *dir)
{
	const char *old = getenv("XDG_DATA_HOME");
	char *kept = old ? strdup(old) : NULL;
	setenv("XDG_DATA_HOME", dir, 1);
	return kept;
}

static void restore_data_home(char *old)
{
	if (old)
		setenv("XDG_DATA_HOME", old, 1);
	else
		unsetenv("XDG_DATA_HOME");
	free(old);
}

static void missing_directory_is_an_error_only_if_given(void **state)
{
	char *dir = hd_format("%s/nothing", (const char *)*state);
	struct heddle_model_entry *e;
	size_t n;
	assert_int_equal(heddle_models_load(dir, &e, &n), HEDDLE_E_IO);
	char *old = move_data_home(dir);
	assert_int_equal(heddle_models_load(NULL, &e, &n), 0);
	assert_int_equal(n, 0);
	heddle_models_free(e, n);
	char *found = heddle_models_dir(), *start = hd_format("%s/heddle/models/", dir);
	assert_memory_equal(found, start, strlen(start));
	assert_true(strlen(found) > strlen(start));
	restore_data_home(old);
	free(found);
	free(start);
	free(dir);
}

static void default_directory_that_cannot_be_written_is_a_warning(void **state)
{
	char *file = hd_format("%s/file", (const char *)*state);
	write_model(*state, "file", "", 0);
	char *old = move_data_home(file);
	struct hd_perf *perf = open_perf(NULL);
	record(entry_of(perf, &gemm, 10), 0, 4, 2.5);
	record(entry_of(perf, &power, 10), 0, 4, 2.5);
	char *dir = heddle_models_dir();
	const char *says = hd_perf_warnings(perf), *end = strchr(says, '\n');
	assert_true(strstr(says, dir) && strstr(says, "Not a directory") && strstr(says, "HEDDLE_MODEL_DIR"));
	assert_true(end && !end[1]); /* once */
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	perf = open_perf(dir); /* the same one, asked for */
	record(entry_of(perf, &gemm, 10), 0, 4, 2.5);
	assert_string_equal(hd_perf_warnings(perf), "");
	assert_int_equal(hd_perf_save(perf), HEDDLE_E_IO);
	assert_true(strstr(heddle_last_error(), file) && strstr(heddle_last_error(), "HEDDLE_MODEL_DIR"));
	hd_perf_close(perf);
	restore_data_home(old);
	free(dir);
	free(file);
}

static void default_directory_that_cannot_be_entered_is_one_warning(void **state)
{
	char *loop = hd_format("%s/loop", (const char *)*state);
	assert_int_equal(symlink("loop", loop), 0);
	char *old = move_data_home(loop);
	struct hd_perf *perf = open_perf(NULL);
	record(entry_of(perf, &gemm, 10), 0, 4, 2.5);
	record(entry_of(perf, &power, 10), 0, 4, 2.5);
	const char *says = hd_perf_warnings(perf), *end = strchr(says, '\n');
	assert_true(strstr(says, loop) && end && !end[1]);
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	restore_data_home(old);
	free(loop);
}

static void purge_removes_models_and_nothing_else(void **state)
{
	size_t n;
	measure_some(*state);
	struct hd_perf *perf = open_perf(*state);
	record(entry_of(perf, &power, 10), 1, 4, 2.5);
	record(entry_of(perf, &(struct heddle_codelet_desc){.name = "a/b"}, 10), 1, 4, 2.5);
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	write_model(*state, "not-ours.yaml", "a: b\n", 5);
	write_model(*state, "gemm.yaml.damaged", "?", 1);
	assert_int_equal(heddle_models_purge(*state, "a/b", &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(heddle_models_purge(*state, "a/b", &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(heddle_models_purge(*state, NULL, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(count_files(*state), 2);
}

/* --- What a killed process leaves --------------------------------------------------------------------------------- */

/* A number that no process has: that of a child that has ended. */
static long gone_process(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return child;
}

static char *write_temporary(const char *dir, const char *name, long process, const char *data)
{
	char *temporary = hd_format("%s.%ld-0", name, process);
	write_model(dir, temporary, data, strlen(data));
	return temporary;
}

static const char our_line[] = "# Heddle performance models of one codelet; see docs/models.md\nversion: 1\n";

/* Of a process that is gone: the model's, one of which nothing was written, that of the links. The others stay. */
struct temporaries {
	char *gone[3], *kept[3];
};

static struct temporaries write_temporaries(const char *dir)
{
	long gone = gone_process();
	return (struct temporaries){
	    .gone = {write_temporary(dir, "gemm.yaml", gone, our_line), write_temporary(dir, "power.yaml", gone, ""),
	             write_temporary(dir, "links.platform", gone, "name: this\n")},
	    .kept = {write_temporary(dir, "gemm.yaml", getpid(), our_line),
	             write_temporary(dir, "notes.yaml", gone, "mine: 1\n"),
	             write_temporary(dir, "report", gone, our_line)},
	};
}

static void assert_gone_are_removed(const char *dir, struct temporaries *t)
{
	for (size_t i = 0; i < 3; i++) {
		if (exists(dir, t->gone[i]) || !exists(dir, t->kept[i]))
			fail_msg("%s is there: %d, %s: %d", t->gone[i], exists(dir, t->gone[i]), t->kept[i],
			         exists(dir, t->kept[i]));
		free(t->gone[i]);
		free(t->kept[i]);
	}
}

static void saving_removes_what_killed_processes_left(void **state)
{
	struct temporaries t = write_temporaries(*state);
	measure_some(*state);
	assert_gone_are_removed(*state, &t);
}

static void purge_removes_what_killed_processes_left(void **state)
{
	size_t n;
	measure_some(*state);
	struct temporaries t = write_temporaries(*state);
	assert_int_equal(heddle_models_purge(*state, "power", &n), 0);
	assert_int_equal(n, 0);
	assert_false(exists(*state, t.gone[1]));
	assert_true(exists(*state, t.gone[0]));
	assert_int_equal(heddle_models_purge(*state, NULL, &n), 0);
	assert_int_equal(n, 1);
	assert_gone_are_removed(*state, &t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_DIR(stored_models_are_read_back_unchanged),
	    IN_DIR(unchanged_models_are_not_written),
	    IN_DIR(classes_of_another_platform_are_kept),
	    IN_DIR(names_with_any_characters_are_stored),
	    IN_DIR(file_cut_off_anywhere_is_set_aside),
	    IN_DIR(file_of_another_version_is_set_aside),
	    IN_DIR(file_with_wrong_contents_is_set_aside),
	    IN_DIR(second_damaged_file_does_not_replace_the_first),
	    IN_DIR(unreadable_file_is_reported_and_left_alone),
	    IN_DIR(file_of_nested_lists_is_set_aside_at_once),
	    IN_DIR(pipe_or_device_is_reported_and_not_read),
	    IN_DIR(writers_at_once_never_leave_a_torn_file),
	    IN_DIR(directory_that_cannot_be_written_is_an_error_that_names_the_file),
	    IN_DIR(models_saved_to_a_directory_replace_those_of_the_same_codelets),
	    IN_DIR(listed_models_are_sorted_and_complete),
	    IN_DIR(listed_models_say_their_laws),
	    IN_DIR(missing_directory_is_an_error_only_if_given),
	    IN_DIR(default_directory_that_cannot_be_written_is_a_warning),
	    IN_DIR(default_directory_that_cannot_be_entered_is_one_warning),
	    IN_DIR(purge_removes_models_and_nothing_else),
	    IN_DIR(saving_removes_what_killed_processes_left),
	    IN_DIR(purge_removes_what_killed_processes_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
