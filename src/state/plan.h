/* Plans and layouts: how a datum is split into children, and which handles of the tree of data have the value. The core
 * lock guards them. */
#ifndef HD_STATE_PLAN_H
#define HD_STATE_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>
#include <heddle/task.h>

struct hd_window;

/* The part of its parent that a child is: its offset in the parent and its extents, per dimension, in elements. */
struct hd_window {
	size_t offset[HEDDLE_MAX_DIMS], n[HEDDLE_MAX_DIMS];
	int shared; /* 1: some of its elements also belong to another window */
};

enum hd_step {
	HD_NO_STEP,
	HD_TO_READ,  /* the children become readable windows; the datum stays valid */
	HD_TO_WRITE, /* the children become the value; the replicas of the datum become invalid */
	HD_GATHER,   /* the datum becomes the value again; the children stay readable */
	HD_JOIN,     /* the datum becomes the value again; the children become invalid */
	HD_DROP      /* the children become invalid, because their values are not needed */
};
struct heddle_plan {
	heddle_data *data, *root; /* borrows: the datum that the plan splits, and the root of the tree of data */
	/* Borrows: a jump pointer to a plan further up. From each plan, the pointers lead to any plan above it in O(log
	 * depth) steps (skew-binary jump pointers, Myers 1983). NULL: no plan is above. */
	heddle_plan *far;
	uint32_t depth;    /* 1 + the number of plans above it */
	heddle_plan *next; /* next plan of the same datum */
	heddle_data **children;
	struct hd_window *windows; /* the plan owns `children`, `windows` and the children's handles */
	size_t n_children;
	uint32_t number;   /* number of plans that the datum had had before this one */
	heddle_task *task; /* owns a reference: the control task that makes the plan's steps, one at a time */
	uint8_t step;      /* enum hd_step: the step under way */
	uint8_t active; /* 1: the children have the value of the datum, or will have it when tasks have written them */
	uint8_t ending; /* 1: the plan is being ended: new tasks may not use it */
	uint8_t home;   /* 1: the gathered datum will be needed in main memory */
	uint8_t irregular; /* 1: some elements of the datum are in several windows, or in none */
	/* 1: the plan is irregular, and the datum was poisoned when its value was scattered over the children. Elements
	 * that are in no child then have no value, so the datum stays poisoned even if all children are written. */
	uint8_t lacks;
	const heddle_task *end; /* borrows: the control task that will free the plan; NULL: none */
	uint32_t n_weak;        /* number of accesses in force at the datum that lead to children of this plan */
	uint32_t checked;       /* scratch of heddle_selfcheck, which counts n_weak again */
	/* status of the last step if it failed; 0 if it has not, or if the task that needed the step has been told */
	int failed;
	uint64_t asker; /* `order` of the task for which the last step was made */
};
/* The layout of a datum that has plans: which handles have its value (graph/layout.c). If `scattered` is NULL, the
 * datum's own replicas are the value, and so are the children of the plans that are `active`. Otherwise the children of
 * the plan `scattered` alone are the value. */
struct hd_layout {
	heddle_plan *plans;     /* owns */
	heddle_plan *scattered; /* borrows */
	uint32_t n_made;        /* number of plans that the datum has ever had */
	/* number of plans with a step under way; while there are any, no access is granted at the datum */
	unsigned n_steps;
	uint64_t asked_by; /* for traces: 1 + the id of the task that needs the steps; 0: the program needs them */
	/* n_changing: accesses in force that lead to children and change them. n_used: plans that the accesses in force
	 * use. */
	uint32_t n_changing, n_used;
	/* per node except main memory: number of windows (children's replicas) that lie in the datum's replica */
	uint32_t n_windows[];
};

#endif
