/* Codelets that run on some classes of workers only: see keep.h. */
#include "keep.h"
#include "tool.h"
#include <stdlib.h>
#include <string.h>

/* CODELET=CLASS+CLASS; borrows all. */
struct entry {
	const char *codelet, *classes;
	size_t codelet_length, classes_length;
};

static int is_word(const char *name, const char *word, size_t length)
{
	return strlen(name) == length && memcmp(name, word, length) == 0;
}

static int parse(struct entry *e, const char *text, size_t length)
{
	size_t equals = strcspn(text, "=,");
	*e = (struct entry){text, text + equals + 1, equals, equals < length ? length - equals - 1 : 0};
	if (equals && e->classes_length && text[length - 1] != '+')
		return TOOL_OK;
	return tool_usage_error("--keep has \"%.*s\": it must be CODELET=CLASS, or CODELET=CLASS+CLASS for several, as "
	                        "in dpotrf=cpu,dgemm=cpu+k40m",
	                        (int)length, text);
}

/* The length of the first class in a list of classes. */
static size_t first_class(const char *list, size_t length)
{
	const char *plus = memchr(list, '+', length);
	return plus ? (size_t)(plus - list) : length;
}

static int is_listed(const struct entry *e, const char *class_name)
{
	for (size_t at = 0; at < e->classes_length;) {
		size_t n = first_class(e->classes + at, e->classes_length - at);
		if (is_word(class_name, e->classes + at, n))
			return 1;
		at += n + 1;
	}
	return 0;
}

/* Prints that the platform has no KIND of this name. */
static int unknown(const char *kind, const char *word, size_t length, const char *const *names, size_t n)
{
	char *text = tool_format("%.*s", (int)length, word);
	int status = tool_unknown(kind, text, names, n);
	free(text);
	return status;
}

static int check_classes(const struct entry *e, const struct heddle_platform *p)
{
	int status = TOOL_OK;
	const char **names = tool_alloc((p->n_classes + 1) * sizeof *names);
	for (size_t i = 0; i < p->n_classes; i++)
		names[i] = p->classes[i].name;
	for (size_t at = 0; at < e->classes_length && !status;) {
		size_t n = first_class(e->classes + at, e->classes_length - at), i = 0;
		while (i < p->n_classes && !is_word(names[i], e->classes + at, n))
			i++;
		if (i == p->n_classes)
			status = unknown("class of workers", e->classes + at, n, names, p->n_classes);
		at += n + 1;
	}
	free(names);
	return status;
}

/* Checks that the platform has times for the codelet, some of them on listed classes. */
static int check_times(const struct entry *e, const struct heddle_platform *p)
{
	const char **names = tool_alloc((p->n_kernels + 1) * sizeof *names);
	size_t n = 0;
	int known = 0, left = 0, status = TOOL_OK;
	for (size_t i = 0; i < p->n_kernels; i++) {
		const struct heddle_kernel_time *k = &p->kernels[i];
		int is_it = is_word(k->codelet, e->codelet, e->codelet_length);
		known |= is_it;
		left |= is_it && is_listed(e, p->classes[k->class_id].name);
		size_t other = 0;
		while (other < n && strcmp(names[other], k->codelet) != 0)
			other++;
		if (other == n)
			names[n++] = k->codelet;
	}
	if (!known)
		status = unknown("codelet with times on this machine", e->codelet, e->codelet_length, names, n);
	else if (!left)
		status = tool_usage_error("--keep: %s has no times for %.*s on %.*s, so nothing could run it", p->name,
		                          (int)e->codelet_length, e->codelet, (int)e->classes_length, e->classes);
	free(names);
	return status;
}

static void take_away(const struct entry *e, struct heddle_platform *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_kernels; i++) {
		struct heddle_kernel_time *k = &p->kernels[i];
		if (is_word(k->codelet, e->codelet, e->codelet_length) && !is_listed(e, p->classes[k->class_id].name)) {
			free(k->codelet);
			free(k->table);
		} else {
			p->kernels[n++] = *k;
		}
	}
	p->n_kernels = n;
}

int tool_keep(struct heddle_platform *platform, const char *list)
{
	int status = *list ? TOOL_OK : tool_usage_error("--keep is empty: it must be CODELET=CLASS,...");
	for (const char *at = list; *at && !status; at += strspn(at, ",")) {
		struct entry e;
		size_t length = strcspn(at, ",");
		status = parse(&e, at, length);
		if (!status)
			status = check_classes(&e, platform);
		if (!status)
			status = check_times(&e, platform);
		if (!status)
			take_away(&e, platform);
		at += length;
	}
	return status;
}
