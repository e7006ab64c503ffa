/* Plans and layouts: how a datum is split, and which handles of the tree have the value. The core lock guards them. */
#ifndef HD_STATE_PLAN_H
#define HD_STATE_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>
#include <heddle/task.h>

struct hd_window;

/* A window of the parent: where it begins and its extents, in elements. */
struct hd_window {
	size_t offset[HEDDLE_MAX_DIMS], n[HEDDLE_MAX_DIMS];
	int shared; /* 1: has elements that another window has, too */
};

enum hd_step {
	HD_NO_STEP,
	HD_TO_READ,  /* makes the children windows that can be read; the datum can be read, too */
	HD_TO_WRITE, /* makes the children the value; the copies of the datum are void */
	HD_GATHER,   /* makes the datum the value; the children can still be read */
	HD_JOIN,     /* the same, but the children are void */
	HD_DROP      /* makes the children void, which are not needed */
};
struct heddle_plan {
	heddle_data *data, *root; /* borrows: the datum that it splits, and the one at the top of the tree */
	/* Borrows: a plan above its datum, so far up that from each plan one comes to each plan above it in a number of
	 * steps that is logarithmic in `depth` (skew-binary jump pointers, Myers 1983). NULL: there is none above. */
	heddle_plan *far;
	uint32_t depth;    /* how many plans are above, and 1 */
	heddle_plan *next; /* of the same datum */
	heddle_data **children;
	struct hd_window *windows; /* owns both arrays, and the handles */
	size_t n_children;
	uint32_t number;   /* how many plans its datum had had before */
	heddle_task *task; /* owns a reference: the control that makes its steps, one at a time */
	uint8_t step;      /* enum hd_step: what that is doing */
	uint8_t active;    /* 1: the children have the value of the datum, or will have */
	uint8_t ending;    /* 1: nobody may use it any more */
	uint8_t home;      /* 1: what the step gathers will be needed in main memory */
	uint8_t irregular; /* 1: some elements are in several windows, or in none */
	/* 1: its children are the value, and the datum had none when they became it: what lies in no child has none, so
	 * the datum stays poisoned even if all children are written. */
	uint8_t lacks;
	const heddle_task *end; /* borrows: the control that will free it; NULL: none */
	uint32_t n_weak;        /* how many accesses are in force at the datum that go to its children */
	uint32_t checked;       /* heddle_selfcheck counts these again here */
	int failed;     /* why the last step has failed; 0: it has not, or that was told to the task it was made for */
	uint64_t asker; /* `order` of the task that the last step was made for */
};
/* layout.c: which handles of a tree have the value. */
/* Of a datum that has plans. Its copies are the value, and so are the children of those plans that are `active`; or, if
 * `scattered` is not NULL, the children of that plan alone. */
struct hd_layout {
	heddle_plan *plans;     /* owns */
	heddle_plan *scattered; /* borrows */
	uint32_t n_made;        /* how many plans the datum has ever had */
	unsigned n_steps;  /* how many of the plans have a step under way: until they have ended, nothing is granted */
	uint64_t asked_by; /* for traces: 1 + the id of the task that its steps are made for; 0: the program */
	/* Of the accesses in force that go to children: how many change what they go to; how many plans they use. */
	uint32_t n_changing, n_used;
	uint32_t n_windows[]; /* per node but main memory: how many copies of children lie in the datum's */
};

#endif
