/* One work that is simulated several times on one platform: see recording.h. */
#include "recording.h"

void recording_init(struct recording *r, size_t n_uses)
{
	*r = (struct recording){.lock = PTHREAD_MUTEX_INITIALIZER, .n_uses = n_uses};
}

void recording_free(struct recording *r)
{
	hd_program_free(&r->program);
	pthread_mutex_destroy(&r->lock);
}

const struct hd_program *recording_begin(struct recording *r, int *records)
{
	pthread_mutex_lock(&r->lock);
	const struct hd_program *program = r->state == RECORDED ? &r->program : NULL;
	*records = r->state == NOT_RECORDED && r->n_uses > 1;
	if (*records)
		r->state = BEING_RECORDED;
	pthread_mutex_unlock(&r->lock);
	return program;
}

void recording_give(struct recording *r, struct hd_program *program)
{
	pthread_mutex_lock(&r->lock);
	r->program = *program;
	r->state = program->graph ? RECORDED : NOT_RECORDED;
	pthread_mutex_unlock(&r->lock);
}

void recording_end(struct recording *r)
{
	pthread_mutex_lock(&r->lock);
	if (--r->n_uses == 0)
		hd_program_free(&r->program);
	pthread_mutex_unlock(&r->lock);
}
