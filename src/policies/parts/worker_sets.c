/* Sets of workers that can run the same tasks. */
#include "worker_sets.h"
#include <stdlib.h>
#include <string.h>

int hd_sets_init(struct hd_sets *s, const struct heddle_platform *platform, size_t n_exact)
{
	size_t combinations = platform->n_classes < 6 ? (size_t)1 << platform->n_classes : 64;
	*s = (struct hd_sets){
	    .platform = platform, .n = 1, .capacity = combinations + n_exact, .words = (platform->n_workers + 63) / 64};
	s->classes = calloc(s->capacity, sizeof *s->classes);
	s->members = calloc((s->capacity + 1) * s->words, sizeof *s->members);
	if (!s->classes || !s->members) {
		hd_sets_fini(s);
		return hd_no_memory("the sets of workers");
	}
	for (unsigned w = 0; w < platform->n_workers; w++) {
		s->all_classes |= (uint64_t)1 << platform->workers[w].class_id % 64;
		s->members[w / 64] |= (uint64_t)1 << w % 64;
	}
	s->classes[0] = s->all_classes;
	return HEDDLE_OK;
}

void hd_sets_fini(struct hd_sets *s)
{
	free(s->classes);
	free(s->members);
	s->classes = s->members = NULL;
}

/* Adds the set whose members are in the spare row, and returns its number; 0: the table is full. */
static unsigned add_set(struct hd_sets *s, uint64_t classes)
{
	if (s->n == s->capacity)
		return 0;
	memcpy(s->members + s->n * s->words, s->members + s->capacity * s->words, s->words * sizeof *s->members);
	s->classes[s->n] = classes;
	return (unsigned)s->n++;
}

unsigned hd_sets_of_classes(struct hd_sets *s, const heddle_task *t)
{
	uint64_t classes = 0;
	for (unsigned c = 0; c < s->platform->n_classes; c++)
		if (heddle_task_could_run_class(t, c))
			classes |= (uint64_t)1 << c % 64;
	for (unsigned i = 0; i < s->n; i++)
		if (s->classes[i] == classes)
			return i;
	uint64_t *spare = s->members + s->capacity * s->words;
	memset(spare, 0, s->words * sizeof *spare);
	for (unsigned w = 0; w < s->platform->n_workers; w++)
		if ((classes >> s->platform->workers[w].class_id % 64) & 1)
			spare[w / 64] |= (uint64_t)1 << w % 64;
	return add_set(s, classes);
}

unsigned hd_sets_exact(struct hd_sets *s, const heddle_task *t)
{
	uint64_t *spare = s->members + s->capacity * s->words;
	memset(spare, 0, s->words * sizeof *spare);
	for (unsigned w = 0; w < s->platform->n_workers; w++)
		if (heddle_task_could_run(t, w))
			spare[w / 64] |= (uint64_t)1 << w % 64;
	for (unsigned i = 0; i < s->n; i++)
		if (memcmp(s->members + i * s->words, spare, s->words * sizeof *spare) == 0)
			return i;
	return add_set(s, 0);
}
