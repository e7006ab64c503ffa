/* The tiles that `heddle tune --here` has found on this machine: a text file beside the models. Each line has a
 * routine, the letter of its precision, the largest extent of its matrices, the workers, the tile, Gflop/s, and the
 * day. */
#define _GNU_SOURCE
#include <dense/internal.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <heddle/model.h>

#define FILE_NAME "dense-tiles"
static const char first_line[] =
    "# Tiles that `heddle tune --here` has found: routine, precision, order, workers, tile, "
    "Gflop/s, day\n";
enum { NAME = 32, WORKERS = 200, MOST_BYTES = 1 << 20 };

struct line {
	char routine[NAME], letter, workers[WORKERS];
	struct heddle_dense_tuned tuned;
};

/* Writes the number of driven workers of each class, in one word: "cpu:20+k40m:4". */
static void describe_workers(const struct heddle_platform *p, char text[WORKERS])
{
	size_t length = 0;
	text[0] = '\0';
	for (unsigned c = 0; c < p->n_classes && length < WORKERS; c++) {
		size_t n = 0;
		for (size_t w = 0; w < p->n_workers; w++)
			n += p->workers[w].class_id == c && !p->workers[w].retired;
		if (n)
			length += (size_t)snprintf(text + length, WORKERS - length, "%s%s:%zu", length ? "+" : "",
			                           p->classes[c].name, n);
	}
	for (char *at = text; *at; at++)
		*at = *at == ' ' ? '_' : *at;
}

static size_t extent(const struct heddle_dense_problem *p)
{
	size_t largest = p->m > p->n ? p->m : p->n;
	return p->k > largest ? p->k : largest;
}

static struct line line_of(const struct heddle_platform *platform, const struct heddle_dense_problem *problem)
{
	struct line l = {.letter = "dszc"[problem->precision], .tuned.n = extent(problem)};
	snprintf(l.routine, sizeof l.routine, "%s", problem->routine ? problem->routine : "potrf");
	describe_workers(platform, l.workers);
	return l;
}

/* The beginning of the line after `at`; NULL: `at` is in the last line. */
static const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');
	return end ? end + 1 : NULL;
}

/* Reads the line at `text`. Returns whether the line is well-formed. */
static int read_line(const char *text, struct line *l)
{
	return sscanf(text, "%31s %c %zu %199s %zu %lf %15s", l->routine, &l->letter, &l->tuned.n, l->workers,
	              &l->tuned.tile, &l->tuned.gflops, l->tuned.day) == 7;
}

static int is_for(const struct line *a, const struct line *b)
{
	return strcmp(a->routine, b->routine) == 0 && a->letter == b->letter && strcmp(a->workers, b->workers) == 0;
}

/* The path of the file, which the caller frees; NULL: there is none, or no memory. */
static char *path_in(const char *dir)
{
	char *path = NULL, *given = dir && *dir ? strdup(dir) : heddle_models_dir();
	if (given && strcmp(given, "none") != 0 && asprintf(&path, "%s/" FILE_NAME, given) < 0)
		path = NULL;
	free(given);
	return path;
}

char *hd_dense_tuned_read(const char *dir)
{
	char *path = path_in(dir), *text = NULL;
	FILE *f = path ? fopen(path, "re") : NULL;
	struct stat about;
	free(path);
	if (f && fstat(fileno(f), &about) == 0 && S_ISREG(about.st_mode) && about.st_size < MOST_BYTES &&
	    (text = calloc(1, (size_t)about.st_size + 1)) != NULL)
		text[fread(text, 1, (size_t)about.st_size, f)] = '\0';
	if (f)
		fclose(f);
	return text;
}

int hd_dense_tuned_search(const char *text, const struct heddle_platform *platform,
                          const struct heddle_dense_problem *problem, struct heddle_dense_tuned *out)
{
	static const double FARTHEST = 2.01; /* times larger or smaller than the matrices that were measured */
	struct line wanted = line_of(platform, problem), l;
	double nearest = log(FARTHEST);
	int found = 0;
	for (const char *at = text; at && *at; at = next_line(at)) {
		if (!read_line(at, &l) || !is_for(&l, &wanted) || !l.tuned.n || !l.tuned.tile)
			continue;
		double away = fabs(log((double)l.tuned.n / (double)wanted.tuned.n));
		if (away < nearest && l.tuned.tile <= wanted.tuned.n) {
			nearest = away;
			*out = l.tuned;
			found = 1;
		}
	}
	return found;
}

int heddle_dense_tuned_find(const char *dir, const struct heddle_platform *platform,
                            const struct heddle_dense_problem *problem, struct heddle_dense_tuned *out)
{
	char *text = platform && problem && out ? hd_dense_tuned_read(dir) : NULL;
	int found = text && hd_dense_tuned_search(text, platform, problem, out);
	free(text);
	return found;
}

/* Writes the lines of `text` without the lines that `kept` replaces, and then the line of `kept`. */
static int write_lines(FILE *f, const char *text, const struct line *kept)
{
	struct line l;
	fputs(first_line, f);
	for (const char *at = text; at && *at; at = next_line(at))
		if (read_line(at, &l) && !(is_for(&l, kept) && l.tuned.n == kept->tuned.n))
			fprintf(f, "%.*s\n", (int)strcspn(at, "\n"), at);
	fprintf(f, "%s %c %zu %s %zu %.4g %s\n", kept->routine, kept->letter, kept->tuned.n, kept->workers,
	        kept->tuned.tile, kept->tuned.gflops, kept->tuned.day);
	return ferror(f) ? -1 : 0;
}

/* Replaces the file atomically: readers see the old or the new content. */
static int replace(const char *path, const char *text, const struct line *kept)
{
	char *temporary = NULL;
	FILE *f = asprintf(&temporary, "%s.%ld.new", path, (long)getpid()) < 0 ? NULL : fopen(temporary, "we");
	int failed = !f || write_lines(f, text, kept);
	if (f)
		failed |= fclose(f) != 0;
	failed = failed || rename(temporary, path);
	int status = failed ? heddle_error(HEDDLE_E_IO, "cannot write %s: %s", path, strerror(errno)) : 0;
	if (failed && temporary)
		unlink(temporary);
	free(temporary);
	return status;
}

int heddle_dense_tuned_keep(const char *dir, const struct heddle_platform *platform,
                            const struct heddle_dense_problem *problem, const struct heddle_dense_tuned *tuned)
{
	if (!platform || !problem || !tuned || !tuned->tile || !tuned->day[0])
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_dense_tuned_keep needs a platform, a problem, a tile and a day");
	struct line kept = line_of(platform, problem);
	size_t n = kept.tuned.n;
	char *path = path_in(dir), *text = hd_dense_tuned_read(dir);
	kept.tuned = *tuned;
	kept.tuned.n = n;
	int status = path ? replace(path, text, &kept)
	                  : heddle_error(HEDDLE_E_IO, "tiles are kept beside the models, which are kept nowhere: the "
	                                              "setting model_dir says where");
	free(path);
	free(text);
	return status;
}
