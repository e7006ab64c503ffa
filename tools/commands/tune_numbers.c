/* heddle tune for applications without tiles: finds options that are numbers, and the policy.
 *
 * The search goes in steps, each from the best that is known: (1) all combinations of a few values, under a few
 * policies of different kinds; (2) all policies on the best of these; (3) values next to the best ones, as long as that
 * makes the work faster. --exhaustive runs the combinations of step 1 under all policies instead. */
#include "tune.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 2, VALUES = 5, MOST_ROUNDS = 8 };

/* An option, and the value about which it is tried: `first`, times the cube root of the number that another option
 * gives, if there is one. */
struct number {
	const char *name;
	const char *of; /* NULL: of nothing */
	double first, factor;
	struct table_column column;
};

static const struct numbers {
	const char *application;
	struct number list[NUMBERS];
} all[] = {
    /* some 30 particles in a leaf of a cube; tasks as long as by default */
    {"fmm",
     {{"leaves", "particles", 0.32, 1.4, {"leaves", NULL, NULL, TABLE_ANY}},
      {"task-us", NULL, 1500, 2, {"task_us", "task", "us", TABLE_ANY}}}},
};

static const double STEP = 1.15; /* between values of step 3 */

static const struct number *numbers_of(const struct work *work)
{
	for (size_t i = 0; i < sizeof all / sizeof *all && !work->graph; i++)
		if (strcmp(work_application(work)->name, all[i].application) == 0)
			return all[i].list;
	return NULL;
}

int tune_has_numbers(const struct work *work)
{
	return numbers_of(work) != NULL;
}

/* Adds the work with another value of the number, of three digits, unless the application cannot have it. */
static void add_value(struct variants *v, const struct work *work, const struct number *number, double value)
{
	char text[32];
	snprintf(text, sizeof text, "%.3g", value);
	if (value > 0) /* not NAN, that of a number which the application chooses */
		variants_add_with(v, work, number->name, text);
}

/* Replaces the variants by those with all values of the number. */
static void vary(struct variants *v, const struct number *number)
{
	struct variants before = *v;
	*v = (struct variants){.n = 0};
	for (size_t i = 0; i < before.n; i++) {
		double first = number->first * (number->of ? cbrt(variants_number(&before.list[i], number->of)) : 1);
		for (int k = 0; k < VALUES; k++)
			add_value(v, &before.list[i], number, first * pow(number->factor, k - VALUES / 2));
	}
	free(before.list);
}

/* The work as it was given, and all combinations of the values of its numbers. */
static void add_all(struct variants *v, const struct tune_options *o)
{
	variants_add(v, &o->work);
	for (const struct number *number = numbers_of(&o->work), *end = number + NUMBERS; number < end; number++)
		if (!variants_is_given(&o->work, number->name))
			vary(v, number);
	variants_add(v, &o->work);
}

static int try_neighbours(struct tune_results *r, struct variants *v, const struct tune_options *o,
                          const struct tune_place *place)
{
	int status = TOOL_OK;
	double before = INFINITY;
	char *policies = tune_best_policies(r, TUNE_KEPT);
	for (int round = 0; round < MOST_ROUNDS && !status && r->list[0].seconds < before; round++) {
		before = r->list[0].seconds;
		const struct work best = r->list[0].work;
		v->n = 0;
		for (const struct number *number = numbers_of(&best), *end = number + NUMBERS; number < end; number++)
			if (!variants_is_given(&o->work, number->name)) {
				add_value(v, &best, number, variants_number(&best, number->name) / STEP);
				add_value(v, &best, number, variants_number(&best, number->name) * STEP);
			}
		status = v->n ? tune_try(r, v, policies, o, place) : TOOL_OK;
	}
	free(policies);
	return status;
}

int tune_search_numbers(struct tune_results *r, const struct tune_options *o, const struct tune_place *place)
{
	struct variants v = {.n = 0};
	add_all(&v, o);
	int status = tune_try(r, &v, o->exhaustive || strcmp(o->scheds, "all") ? o->scheds : tune_probes, o, place);
	if (!status && !o->exhaustive) {
		v.n = 0;
		tune_add_best(&v, r, TUNE_KEPT);
		status = tune_try(r, &v, o->scheds, o, place);
	}
	if (!status && !o->exhaustive)
		status = try_neighbours(r, &v, o, place);
	free(v.list);
	return status;
}

/* Whether an earlier result is of the same run, which several steps may have done. */
static int is_repeated(const struct tune_results *r, size_t i)
{
	const struct tune_result *x = &r->list[i];
	for (size_t k = 0; k < i; k++)
		if (r->list[k].policy == x->policy &&
		    memcmp(r->list[k].work.options, x->work.options, work_application(&x->work)->size) == 0)
			return 1;
	return 0;
}

void tune_fill_numbers(struct table *table, const struct tune_results *r)
{
	const struct number *numbers = numbers_of(&r->list[0].work);
	const struct table_column columns[] = {
	    numbers[0].column,
	    numbers[1].column,
	    {"policy", NULL, NULL, TABLE_AS_TEXT},
	    {"makespan_ms", "makespan", "ms", 2},
	};
	table_init(table, "numbers", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0, shown = 0; i < r->n && shown < TUNE_SHOWN; i++) {
		if (is_repeated(r, i))
			continue;
		for (size_t k = 0; k < NUMBERS; k++)
			table_number(table, variants_number(&r->list[i].work, numbers[k].name));
		table_text(table, "%s", r->list[i].policy);
		table_number(table, r->list[i].seconds * 1e3);
		shown++;
	}
}
