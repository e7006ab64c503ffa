/* What tests of heddle_forget, heddle_copy and heddle_unordered share: codelets for the two kinds of workers. */
#ifndef TEST_FORGOTTEN_H
#define TEST_FORGOTTEN_H

#include "internals.h"
#include "program.h"

static inline int put_seven(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 7;
	return 0;
}
static inline int init_zero(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 0;
	return 0;
}
static inline int combine(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(long *)heddle_ptr(c, 1);
	return 0;
}

struct codelets {
	heddle_codelet *add, *put, *zero, *combine, *add_far, *put_far;
};

static inline heddle_runtime *begin(struct codelets *c, int n_emulated, int check)
{
	struct heddle_config config = small_config();
	config.n_emulated = n_emulated;
	config.check = check;
	heddle_runtime *rt = start_with(&config);
	*c = (struct codelets){
	    .add = heddle_codelet_new(rt, .name = "add", .cpu = increment),
	    .put = heddle_codelet_new(rt, .name = "put", .cpu = put_seven),
	    .zero = heddle_codelet_new(rt, .name = "zero", .cpu = init_zero),
	    .combine = heddle_codelet_new(rt, .name = "combine", .cpu = combine),
	};
	if (n_emulated) {
		c->add_far = heddle_codelet_new(rt, .name = "add far", .emulated = increment);
		c->put_far = heddle_codelet_new(rt, .name = "put far", .emulated = put_seven);
	}
	return rt;
}

#endif
