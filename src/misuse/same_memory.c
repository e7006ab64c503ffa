/* Memory that was registered twice: there are no dependencies between tasks that name one of the two data and tasks
 * that name the other. The pair is reported only once: when both data have been used and a task writes one of them. */
#include "internal.h"
#include "state/data.h"
#include "state/runtime.h"
#include "state/tree.h"

/* Records the pair, and returns whether it was reported already. When the table is full, returns 1, so that the pair is
 * not reported. */
static int was_reported(struct hd_misuse *m, const heddle_data *a, const heddle_data *b)
{
	for (size_t i = 0; i < m->n_twins; i++)
		if ((m->twins[i].a == a && m->twins[i].b == b) || (m->twins[i].a == b && m->twins[i].b == a))
			return 1;
	if (m->n_twins == HD_TWINS)
		return 1;
	m->twins[m->n_twins++] = (struct hd_twins){a, b};
	return 0;
}

/* Reports that `a`, which was used before, shares memory with `b`, which the task uses. */
static void report(struct hd_watch *w, const heddle_data *a, const heddle_data *b)
{
	char one[80], other[80];
	hd_data_name(a, one, sizeof one);
	hd_data_name(b, other, sizeof other);
	hd_finding(w,
	           hd_format("it uses %s, but %s and %s are the same memory: tasks that name one of them do not wait "
	                     "for those that name the other; register it once, and name pieces of it (a partition or a "
	                     "plan)",
	                     other, one, other),
	           NULL);
}

/* Compares a datum that the task uses with all other data that have no parent and have been used. */
static void compare(struct hd_watch *w, const struct hd_watched *x, const struct hd_seal *own)
{
	struct hd_misuse *m = x->data->rt->misuse;
	const heddle_data *whole = hd_data_root(x->data);
	for (size_t i = 0; i < m->n_seals; i++) {
		const struct hd_seal *s = &m->seals[i];
		if (!s->used || s->data == whole || !(x->writes || s->written) || s->low >= own->high ||
		    own->low >= s->high)
			continue;
		if (hd_buffers_meet(s->data, x->data, hd_parts_share) && !was_reported(m, s->data, whole))
			report(w, s->data, whole);
	}
}

void hd_twice_look(struct hd_watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct hd_watched *x = &w->items[i];
		struct hd_seal *s = x->home ? hd_seal_of(hd_data_root(x->data)) : NULL;
		if (!s)
			continue;
		s->used = 1;
		s->written |= x->writes;
	}
	for (size_t i = 0; i < w->n; i++) {
		const struct hd_watched *x = &w->items[i];
		const struct hd_seal *own = x->home ? hd_seal_of(x->data) : NULL;
		if (own)
			compare(w, x, own);
	}
}

void hd_twice_forget(struct hd_misuse *m, const heddle_data *d)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->n_twins; i++)
		if (m->twins[i].a != d && m->twins[i].b != d)
			m->twins[kept++] = m->twins[i];
	m->n_twins = kept;
}
