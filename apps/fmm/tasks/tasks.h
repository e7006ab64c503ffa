/* What the tasks of the fast multipole method share: codelets, groups of cells, and the data of a plan. */
#ifndef HD_FMM_TASKS_H
#define HD_FMM_TASKS_H

#include <heddle/dense.h>
#include <heddle/fmm.h>
#include <heddle.h>
#include <fmm/kernels/pairs.h>
#include <fmm/kernels/translations.h>
#include <fmm/tree/tree.h>

enum { HD_FMM_PRECISIONS = 2, HD_FMM_LEVELS = HD_FMM_MOST_DEPTH + 1 };

/* The operators, as the literature calls them. */
enum hd_fmm_op {
	/* brings the charges to the leaves of a group, and makes their multipoles; sums of mutual pairs begin with 0 */
	HD_FMM_P2M,
	HD_FMM_M2M,    /* the multipoles of a group of cells, from their children */
	HD_FMM_M2L,    /* the local expansions of a group of cells, from the cells far from them */
	HD_FMM_L2L,    /* adds the local expansions of the parents */
	HD_FMM_P2P,    /* what neighbouring leaves cause */
	HD_FMM_L2P,    /* adds the local expansions of leaves, and brings the results to the program */
	HD_FMM_MUTUAL, /* mutual pairs: what two groups cause */
	HD_FMM_N_OPS
};

/* What an experiment assumes in virtual time (assumed.c); all 0: tasks are as programs have them. */
enum hd_fmm_gpu_pairs {
	HD_FMM_NO_GPU, /* P2P has no time on accelerators */
	HD_FMM_BLOCKS, /* TBFMM's kernel: a block of 256 threads has the targets of one leaf, and other threads idle */
	HD_FMM_FULL    /* a kernel all of whose threads have targets */
};
struct hd_fmm_assumed {
	enum hd_fmm_gpu_pairs gpu_pairs;
	int gpu_far;       /* M2L has times on accelerators */
	int by_size;       /* models know how large the data of a task are, and not how much it does with them */
	int no_priorities; /* tasks have none */
};

struct heddle_fmm {
	struct hd_fmm_assumed assumed;
	heddle_runtime *rt;  /* borrows until closed */
	heddle_dense *dense; /* owns; as long as it is open, BLAS has one thread for each kernel */
	heddle_codelet *codelets[HD_FMM_PRECISIONS][HD_FMM_N_OPS]; /* owned by the runtime */
	int for_devices[HD_FMM_PRECISIONS];                        /* the runtime has devices with kernels */
};

int hd_fmm_make_codelets(struct heddle_fmm *fmm);
/* heddle_fmm_open for an experiment. */
int hd_fmm_open_assumed(heddle_runtime *rt, const struct hd_fmm_assumed *assumed, heddle_fmm **out);

/* --- Groups of cells ---------------------------------------------------------------------------------------------- */

/* Cells first ... first + n - 1 of a level. The children of a cell are in one group. */
struct hd_fmm_group {
	size_t first, n;
	size_t first_slot, n_slots; /* of its leaves; 0 slots: none of the cells is a leaf */
	size_t most_direct;         /* leaves that act directly on one of its leaves */
	double pairs, translations; /* of the group's cells as targets */
};

struct hd_fmm_groups {
	size_t n, before;         /* on this level, on the levels above */
	struct hd_fmm_group *all; /* owns */
	uint32_t *of_cell;        /* owns; the number of each cell's group */
};

/* The number of the group of a cell, where all levels' groups are counted. */
static inline size_t hd_fmm_group_of(const struct hd_fmm_groups *levels, int level, size_t cell)
{
	return levels[level].before + levels[level].of_cell[cell];
}

/* For each group of targets, the groups of sources that it needs: groups[start[g]] ... in ascending order. */
struct hd_fmm_uses {
	size_t *start;    /* owns */
	uint32_t *groups; /* owns */
};

/* groups.c. All return 0, or -1: out of memory. */
struct heddle_fmm_plan;
int hd_fmm_groups_make(struct heddle_fmm_plan *plan);
void hd_fmm_groups_free(struct heddle_fmm_plan *plan);

/* --- Plans -------------------------------------------------------------------------------------------------------- */

/* A tree with its groups and data: of sources or of targets, or of both. */
struct hd_fmm_side {
	struct hd_fmm_tree tree;
	struct hd_fmm_groups groups[HD_FMM_LEVELS];
	/* Owns; coordinates of slots relative to the centres of their leaves, group by group: coordinates by x, by y,
	 * by z. */
	void *at;
	heddle_data **expansions[HD_FMM_LEVELS]; /* owns; of each group: multipoles of sources, locals of targets */
	/* Owns; of each group of all levels (hd_fmm_group_of) that has leaves, coordinates and charges of its slots, as
	 * columns of a matrix: x, y, z and, of sources, q */
	heddle_data **particles;
};

/* far_list.c: the translations of a group of targets. */
enum { HD_FMM_BLOCK = 16 };
#define HD_FMM_NO_COLUMN UINT32_MAX
struct hd_fmm_far_list {
	uint32_t *numbers; /* owns */
	size_t n, n_blocks, n_columns;
	heddle_data *data; /* owns */
};

struct heddle_fmm_plan {
	struct heddle_fmm *fmm; /* borrows */
	struct heddle_fmm_options options;
	int degree, counting; /* counting: see hd_fmm_plan_counting */
	struct hd_fmm_costs costs;
	struct hd_fmm_box box;
	/* If the targets are the sources, has_targets is 0, and `targets` has no tree, groups and particles: those of
	 * `sources` are used. */
	struct hd_fmm_side sources, targets;
	int has_targets;
	struct hd_fmm_near near;
	/* of groups of a level, and of groups of all levels (hd_fmm_group_of) */
	struct hd_fmm_uses far_uses[HD_FMM_LEVELS], near_uses;
	/* Owns; of each group of targets; NULL: no device needs them. */
	struct hd_fmm_far_list *far_lists[HD_FMM_LEVELS];
	heddle_data *tables_data; /* owns; matrices and signs, for devices */
	uint32_t *near_lists;     /* owns; near_list.c; NULL: no device needs them */
	heddle_data *
	    *near_data;        /* owns; of each group of targets on all levels that has leaves: a part of near_lists */
	heddle_data **results; /* owns; of each of these groups: columns of potential and gradient */
	heddle_data *work;     /* owns; the shape of workspaces */
	/* Owns; periodic: of each source, the square of its distance from the root's centre, in units of the root's
	 * side */
	double *squares;
	union {
		struct hd_fmm_d_tables d;
		struct hd_fmm_s_tables s;
	} tables;
	struct heddle_fmm_statistics statistics;
};

static inline const struct hd_fmm_tree *hd_fmm_targets(const struct heddle_fmm_plan *plan)
{
	return plan->has_targets ? &plan->targets.tree : &plan->sources.tree;
}
static inline const struct hd_fmm_side *hd_fmm_target_side(const struct heddle_fmm_plan *plan)
{
	return plan->has_targets ? &plan->targets : &plan->sources;
}
static inline const struct hd_fmm_groups *hd_fmm_target_groups(const struct heddle_fmm_plan *plan, int level)
{
	return &hd_fmm_target_side(plan)->groups[level];
}
/* The number of groups of all levels. */
static inline size_t hd_fmm_all_groups(const struct heddle_fmm_plan *plan, const struct hd_fmm_side *side)
{
	return side->groups[plan->box.depth].before + side->groups[plan->box.depth].n;
}
/* The length of the longest list of leaves that act directly on a leaf. */
size_t hd_fmm_most_direct(const struct heddle_fmm_plan *plan);
/* The range of groups that contain the cells first ... first + n - 1. */
struct hd_fmm_range {
	size_t first, end;
};
static inline struct hd_fmm_range hd_fmm_groups_of(const struct hd_fmm_groups *groups, size_t first, size_t n)
{
	return (struct hd_fmm_range){groups->of_cell[first], (size_t)groups->of_cell[first + n - 1] + 1};
}
/* The groups of the children of a group's cells, and of their parents. */
struct hd_fmm_range hd_fmm_children_of(const struct hd_fmm_side *side, int level, size_t group);
struct hd_fmm_range hd_fmm_parents_of(const struct heddle_fmm_plan *plan, int level, size_t group);

/* data.c. The data are made after the tree, the groups and the tables. */
int hd_fmm_register_data(struct heddle_fmm_plan *plan);
int hd_fmm_unregister_data(struct heddle_fmm_plan *plan);
void hd_fmm_end_data(heddle_data *data);
/* far_list.c */
int hd_fmm_register_far_lists(struct heddle_fmm_plan *plan);
void hd_fmm_end_far_lists(struct heddle_fmm_plan *plan);
/* near_list.c */
int hd_fmm_register_near_lists(struct heddle_fmm_plan *plan);
/* Fills in the statistics. */
void hd_fmm_describe(struct heddle_fmm_plan *plan);
/* submit.c */
size_t hd_fmm_count_tasks(const struct heddle_fmm_plan *plan);

size_t hd_fmm_real_size(const struct heddle_fmm_plan *plan);
size_t hd_fmm_stride(const struct heddle_fmm_plan *plan);
/* Bytes of the workspace of a task, and of the part of it for addresses of groups. */
size_t hd_fmm_work_bytes(const struct heddle_fmm_plan *plan);
size_t hd_fmm_address_bytes(const struct heddle_fmm_plan *plan);

/* A plan whose result is the sum of the charges of all other sources, without rounding if they are whole numbers: it
 * tells whether each target sees each source once. */
int hd_fmm_plan_counting(struct heddle_fmm *fmm, const struct heddle_fmm_points *sources,
                         const struct heddle_fmm_points *targets, const struct heddle_fmm_options *options,
                         struct heddle_fmm_plan **out);

/* A translation in the workspace of a task: from a cell of the sources to a cell of the group, counted from its first.
 * */
struct hd_fmm_listed {
	uint32_t source;
	uint32_t target;
	uint16_t kind; /* struct hd_fmm_far */
};

/* What a task does. */
struct hd_fmm_work {
	double us; /* an estimate, for one core */
	/* P2P on a GPU with a block of threads for each leaf (HD_FMM_BLOCKS): number of sources times number of
	 * threads, idle threads included, added up over the leaves; 0: not needed */
	double blocks;
};

/* The value of a task. */
struct hd_fmm_value {
	struct hd_fmm_work work, told; /* told: what models are told of it, the same unless assumed.by_size */
	const struct heddle_fmm_plan *plan;
	enum hd_fmm_op op;
	int level, other_level;
	size_t group, other; /* on these levels */
	const void *charges;
	double unit; /* of charges within tasks: a power of two, so that the largest charge is between 1 and 2 */
	double total, squares; /* periodic: of charges, and of charges times plan->squares; units of `unit` */
	void *potential, *gradient;
};

/* assumed.c */

/* What leaves of a group of targets have to do with those of a group of sources: pairs of particles, and sources x
 * threads in blocks for these targets; returned: in blocks for the sources as targets. */
struct hd_fmm_near_work {
	double pairs, blocks, returned;
};
/* Adds the work of a group of targets to that of each group of sources, as hd_fmm_group_of numbers them. `room` has
 * room for hd_fmm_most_direct leaves. */
void hd_fmm_near_work(const struct heddle_fmm_plan *plan, int level, size_t group, struct hd_fmm_direct *room,
                      struct hd_fmm_near_work *of_sources);
/* Operations of a task that takes so many us on a core. */
double hd_fmm_flops(const struct hd_fmm_value *v, double us);
/* us of work on a class of accelerators; NAN: it cannot run there. */
double hd_fmm_time_on_gpu(const struct hd_fmm_value *v, unsigned class_id, struct hd_fmm_work work);
/* The mean work of tasks of the same operator and size: all tasks are noted, then each is told it. NULL: out of memory;
 * the caller frees it with free. */
struct hd_fmm_by_size *hd_fmm_by_size_make(void);
void hd_fmm_by_size_note(struct hd_fmm_by_size *sizes, const struct hd_fmm_value *v, double bytes);
struct hd_fmm_work hd_fmm_by_size_tell(struct hd_fmm_by_size *sizes, const struct hd_fmm_value *v, double bytes);

static inline int hd_fmm_no_memory(const char *what)
{
	return heddle_error(HEDDLE_E_MEMORY, "no memory for %s", what);
}

#endif
