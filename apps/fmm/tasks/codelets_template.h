/* The kernels of tasks, for one precision: see codelets.c. */

/* --- Data of a task ------------------------------------------------------------------------------------------------
 * */

static const struct P(tables) * P(tables_of)(const struct heddle_fmm_plan *plan)
{
	return SINGLE ? (const void *)&plan->tables.s : (const void *)&plan->tables.d;
}

/* The workspace of a task: addresses of groups of sources, columns of translations, a list of translations or of
 * leaves. */
struct P(work) {
	real **groups; /* of the level, or of all levels (hd_fmm_group_of). NULL: the task has no such group */
	real *columns;
	struct hd_fmm_listed *list;
	struct hd_fmm_direct *direct;
};

static struct P(work) P(work_of)(const struct heddle_fmm_plan *plan, void *memory)
{
	char *at = memory;
	struct P(work) w = {.groups = memory};
	size_t addresses = hd_fmm_address_bytes(plan);
	memset(memory, 0, addresses);
	w.columns = (void *)(at + addresses);
	w.list = (void *)(w.columns + 2 * HD_FMM_COLUMNS * P(tables_of)(plan)->stride);
	w.direct = (void *)w.list;
	return w;
}

/* The first column of a matrix of slots, from a leaf on. */
static real *P(slots_of)(real *group, const struct hd_fmm_group *g, const struct hd_fmm_level *level, size_t leaf)
{
	return group + (level->first_slot[leaf] - g->first_slot);
}

/* The slots of a leaf, whose coordinates begin at `at`. */
static struct P(points) P(points_of)(const struct hd_fmm_value *v, const struct hd_fmm_level *level,
                                     const struct hd_fmm_group *g, size_t leaf, const real *at)
{
	int sides = 1 << (v->plan->box.depth - v->level); /* of the smallest leaves in that of the leaf */
	return (struct P(points)){level->first_slot[leaf + 1] - level->first_slot[leaf],
	                          v->plan->counting ? 1 : 1 / (real)sides,
	                          {at, at + g->n_slots, at + 2 * g->n_slots}};
}

static real *P(cell_of)(const struct hd_fmm_groups *groups, real *const *data, size_t cell, size_t stride)
{
	uint32_t group = groups->of_cell[cell];
	return data[group] + (cell - groups->all[group].first) * stride;
}

/* --- Upwards -------------------------------------------------------------------------------------------------------
 * */

/* Coordinates and charges of a leaf, padded by particles without a charge. */
static void P(bring)(const struct hd_fmm_value *v, size_t leaf, real *out)
{
	const struct hd_fmm_side *side = &v->plan->sources;
	const struct hd_fmm_group *g = &side->groups[v->level].all[v->group];
	const struct hd_fmm_level *l = &side->tree.levels[v->level];
	const real *at = (const real *)side->at + 3 * g->first_slot, *charges = v->charges;
	size_t first = l->first_slot[leaf] - g->first_slot, n = l->count[leaf];
	size_t slots = l->first_slot[leaf + 1] - l->first_slot[leaf];
	for (size_t c = 0; c < 3; c++)
		memcpy(out + first + c * g->n_slots, at + first + c * g->n_slots, slots * sizeof *out);
	real *q = out + first + 3 * g->n_slots;
	memset(q, 0, slots * sizeof *q);
	for (size_t i = 0; i < n; i++)
		q[i] = charges[side->tree.order[l->first[leaf] + i]] / (real)v->unit;
}

static void P(clear_sums)(const struct hd_fmm_value *v, real *sums)
{
	const struct hd_fmm_group *g = &hd_fmm_target_groups(v->plan, v->level)->all[v->group];
	memset(sums, 0, 4 * g->n_slots * sizeof *sums);
}

/* Data: particles; sums, if pairs are mutual; multipoles, if there are cells far from these. */
static int P(p2m)(heddle_context *c)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	const struct heddle_fmm_plan *plan = v->plan;
	const struct hd_fmm_level *l = &plan->sources.tree.levels[v->level];
	const struct hd_fmm_group *g = &plan->sources.groups[v->level].all[v->group];
	size_t next = plan->options.pairs == HEDDLE_FMM_MUTUAL ? 2 : 1;
	real *out = heddle_ptr(c, 0), *m = heddle_context_n_data(c) > next ? heddle_ptr(c, next) : NULL;
	size_t stride = P(tables_of)(plan)->stride;
	if (next > 1)
		P(clear_sums)(v, heddle_ptr(c, 1));
	if (m)
		memset(m, 0, g->n * stride * sizeof *m);
	for (size_t leaf = g->first; leaf < g->first + g->n; leaf++) {
		if (!hd_fmm_is_leaf(l, leaf))
			continue;
		P(bring)(v, leaf, out);
		const real *at = P(slots_of)(out, g, l, leaf);
		const struct P(points) points = P(points_of)(v, l, g, leaf, at);
		if (m)
			P(particles_to_multipole)
		(plan->degree, &points, at + 3 * g->n_slots, m + (leaf - g->first) * stride);
	}
	return 0;
}

/* What brings the child's centre to the centre of child 7, at (+, +, +): a reflection of each coordinate whose bit is
 * 0. */
static unsigned P(reflection_of)(unsigned octant)
{
	return (~octant >> 2 & 1) | (~octant >> 1 & 1) << 1 | (~octant & 1) << 2;
}

/* Data: multipoles, which are those of the leaves if there are some; workspace; multipoles of groups of children. */
static int P(m2m)(heddle_context *c)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	const struct hd_fmm_side *side = &v->plan->sources;
	const struct P(tables) *tables = P(tables_of)(v->plan);
	const struct hd_fmm_group *g = &side->groups[v->level].all[v->group];
	const struct hd_fmm_level *l = &side->tree.levels[v->level], *below = l + 1;
	struct hd_fmm_range range = hd_fmm_children_of(side, v->level, v->group);
	struct P(work) work = P(work_of)(v->plan, heddle_ptr(c, 1));
	real *to = heddle_ptr(c, 0);
	for (size_t i = range.first; i < range.end; i++)
		work.groups[i] = heddle_ptr(c, 2 + i - range.first);
	if (g->n_slots == 0)
		memset(to, 0, g->n * tables->stride * sizeof *to);
	for (size_t cell = g->first; cell < g->first + g->n; cell++, to += tables->stride) {
		struct P(translation) all[8];
		size_t n = 0;
		for (uint32_t child = l->first_child[cell]; child < below->n && below->parent[child] == cell; child++)
			all[n++] = (struct P(translation)){
			    P(cell_of)(&side->groups[v->level + 1], work.groups, child, tables->stride), to,
			    P(reflection_of)(below->octant[child])};
		P(translate)(tables, (struct P(operator)){tables->up, 0, 1}, all, n, work.columns);
	}
	return 0;
}

/* --- Across and downwards ------------------------------------------------------------------------------------------
 * */

/* Lists the translations of a group in the order of their matrices; ends[k] is the index behind the translations of
 * matrix k. */
static void P(list)(const struct hd_fmm_value *v, struct hd_fmm_listed *list, size_t ends[HD_FMM_MATRICES])
{
	const struct heddle_fmm_plan *plan = v->plan;
	const struct hd_fmm_group *g = &hd_fmm_target_groups(plan, v->level)->all[v->group];
	struct hd_fmm_far far[HD_FMM_MOST_FAR];
	size_t count[HD_FMM_MATRICES] = {0}, total = 0;
	for (int pass = 0; pass < 2; pass++) { /* the first one counts */
		for (size_t i = 0; i < g->n; i++) {
			size_t n = hd_fmm_far_of(&plan->near, hd_fmm_targets(plan), &plan->sources.tree, v->level,
			                         (uint32_t)(g->first + i), far);
			for (size_t k = 0; k < n; k++) {
				unsigned matrix = far[k].kind / HD_FMM_REFLECTIONS;
				if (pass)
					list[ends[matrix]++] =
					    (struct hd_fmm_listed){far[k].source, (uint32_t)i, far[k].kind};
				else
					count[matrix]++;
			}
		}
		for (size_t k = 0; k < HD_FMM_MATRICES && !pass; k++) {
			ends[k] = total;
			total += count[k];
		}
	}
}

/* Data: local expansions; workspace; multipoles of groups of far cells; perhaps a list and tables, for devices. */
static int P(m2l)(heddle_context *c)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	const struct heddle_fmm_plan *plan = v->plan;
	const struct P(tables) *tables = P(tables_of)(plan);
	const struct hd_fmm_group *g = &hd_fmm_target_groups(plan, v->level)->all[v->group];
	const struct hd_fmm_groups *sources = &plan->sources.groups[v->level];
	const struct hd_fmm_uses *uses = &plan->far_uses[v->level];
	struct P(work) work = P(work_of)(plan, heddle_ptr(c, 1));
	real *to = heddle_ptr(c, 0);
	size_t ends[HD_FMM_MATRICES], done = 0;
	for (size_t i = uses->start[v->group]; i < uses->start[v->group + 1]; i++)
		work.groups[uses->groups[i]] = heddle_ptr(c, 2 + i - uses->start[v->group]);
	memset(to, 0, g->n * tables->stride * sizeof *to);
	P(list)(v, work.list, ends);
	for (size_t k = 0; k < HD_FMM_MATRICES; k++)
		while (done < ends[k]) {
			struct P(translation) all[HD_FMM_COLUMNS];
			size_t n = 0;
			for (; n < HD_FMM_COLUMNS && done < ends[k]; done++)
				all[n++] = (struct P(translation)){
				    P(cell_of)(sources, work.groups, work.list[done].source, tables->stride),
				    to + work.list[done].target * tables->stride,
				    work.list[done].kind % HD_FMM_REFLECTIONS};
			P(translate)(tables, (struct P(operator)){tables->far[k], 0, 1}, all, n, work.columns);
		}
	return 0;
}

/* Data: local expansions; workspace; local expansions of groups of parents. What is in units of the parent's side has
 * half the number in units of the child's. */
static int P(l2l)(heddle_context *c)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	const struct heddle_fmm_plan *plan = v->plan;
	const struct P(tables) *tables = P(tables_of)(plan);
	const struct hd_fmm_group *g = &hd_fmm_target_groups(plan, v->level)->all[v->group];
	const struct hd_fmm_level *l = &hd_fmm_targets(plan)->levels[v->level];
	struct hd_fmm_range range = hd_fmm_parents_of(plan, v->level, v->group);
	struct P(work) work = P(work_of)(plan, heddle_ptr(c, 1));
	real *to = heddle_ptr(c, 0);
	for (size_t i = range.first; i < range.end; i++)
		work.groups[i] = heddle_ptr(c, 2 + i - range.first);
	for (size_t done = 0; done < g->n;) {
		struct P(translation) all[HD_FMM_COLUMNS];
		size_t n = 0;
		for (; n < HD_FMM_COLUMNS && done < g->n; done++) {
			size_t cell = g->first + done;
			all[n++] =
			    (struct P(translation)){P(cell_of)(hd_fmm_target_groups(plan, v->level - 1), work.groups,
			                                       l->parent[cell], tables->stride),
			                            to + done * tables->stride, P(reflection_of)(l->octant[cell])};
		}
		P(translate)
		(tables, (struct P(operator)){tables->up, 1, tables->counting ? 1 : (real)0.5}, all, n, work.columns);
	}
	return 0;
}

/* --- Leaves --------------------------------------------------------------------------------------------------------
 * */

/* Adds what sources that act directly on a leaf's targets cause, of the groups whose addresses are there. */
static void P(add_direct)(const struct heddle_fmm_plan *plan, const struct P(targets) * targets,
                          const struct P(work) * work, size_t n_direct)
{
	P(pairs) pairs = plan->counting ? P(count) : P(pairs_for)(hd_fmm_best_vectors());
	struct P(sources) all[HD_FMM_NEAR];
	size_t n = 0;
	for (size_t i = 0; i < n_direct; i++) {
		const struct hd_fmm_direct *d = &work->direct[i];
		const struct hd_fmm_groups *groups = &plan->sources.groups[d->level];
		const struct hd_fmm_group *from = &groups->all[groups->of_cell[d->cell]];
		const struct hd_fmm_level *l = &plan->sources.tree.levels[d->level];
		real *group = work->groups[groups->before + groups->of_cell[d->cell]];
		if (!group)
			continue;
		const real *at = P(slots_of)(group, from, l, d->cell);
		all[n++] = (struct P(sources)){
		    l->count[d->cell],
		    {at, at + from->n_slots, at + 2 * from->n_slots},
		    at + 3 * from->n_slots,
		    {(real)0.5 * (real)d->offset[0], (real)0.5 * (real)d->offset[1], (real)0.5 * (real)d->offset[2]}};
		if (n == HD_FMM_NEAR) {
			pairs(targets, all, n);
			n = 0;
		}
	}
	pairs(targets, all, n);
}

/* The sums of a group's leaves. */
static void P(add_near)(const struct hd_fmm_value *v, int level, size_t group, const struct P(work) * work,
                        const real *points, real *sums)
{
	const struct heddle_fmm_plan *plan = v->plan;
	const struct hd_fmm_tree *tree = hd_fmm_targets(plan);
	const struct hd_fmm_level *l = &tree->levels[level];
	const struct hd_fmm_group *g = &hd_fmm_target_groups(plan, level)->all[group];
	for (size_t leaf = g->first; leaf < g->first + g->n; leaf++) {
		if (!hd_fmm_is_leaf(l, leaf))
			continue;
		size_t slot = l->first_slot[leaf] - g->first_slot;
		const real *at = points + slot;
		real *sum = sums + slot;
		struct P(targets) targets = {(l->count[leaf] + LANES - 1) / LANES * LANES,
		                             {at, at + g->n_slots, at + 2 * g->n_slots},
		                             {sum, NULL, NULL, NULL}};
		for (size_t c = 1; c < 4 && v->gradient; c++)
			targets.sum[c] = sum + c * g->n_slots;
		struct hd_fmm_directs direct = {.all = work->direct};
		hd_fmm_direct_of(&plan->near, tree, &plan->sources.tree, level, (uint32_t)leaf, &direct);
		P(add_direct)(plan, &targets, work, direct.n);
	}
}

/* Data: sums; workspace; coordinates; particles of groups nearby; perhaps a list, for devices. */
static int P(p2p)(heddle_context *c)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	const struct hd_fmm_uses *uses = &v->plan->near_uses;
	struct P(work) work = P(work_of)(v->plan, heddle_ptr(c, 1));
	size_t group = hd_fmm_target_groups(v->plan, v->level)->before + v->group;
	for (size_t i = uses->start[group]; i < uses->start[group + 1]; i++)
		work.groups[uses->groups[i]] = heddle_ptr(c, 3 + i - uses->start[group]);
	P(clear_sums)(v, heddle_ptr(c, 0));
	P(add_near)(v, v->level, v->group, &work, heddle_ptr(c, 2), heddle_ptr(c, 0));
	return 0;
}

/* Data: sums of one group, or of two groups; workspace; particles of the one group, or of both. */
static int P(mutual)(heddle_context *c)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	const int levels[] = {v->level, v->other_level};
	const size_t groups[] = {v->group, v->other};
	const size_t n = v->other == v->group && v->other_level == v->level ? 1 : 2;
	struct P(work) work = P(work_of)(v->plan, heddle_ptr(c, n));
	for (size_t i = 0; i < n; i++) {
		size_t source = n - 1 - i, before = v->plan->sources.groups[levels[source]].before;
		work.groups[before + groups[source]] = heddle_ptr(c, n + 1 + source);
		P(add_near)(v, levels[i], groups[i], &work, heddle_ptr(c, n + 1 + i), heddle_ptr(c, i));
		work.groups[before + groups[source]] = NULL;
	}
	return 0;
}

/* Of a periodic system, what expansions do not have (hd_fmm_images_to_local). */
static void P(add_background)(const struct hd_fmm_value *v, size_t leaf, const struct P(points) * points,
                              real *const sum[4])
{
	const double weight = 2 * M_PI / 3, side = ldexp(1, -v->plan->box.depth); /* of the smallest leaves */
	double centre[3];
	hd_fmm_centre_of(hd_fmm_targets(v->plan), v->level, leaf, centre);
	for (size_t i = 0; i < points->n; i++) {
		double square = 0;
		for (int c = 0; c < 3; c++) {
			double x = centre[c] + side * points->at[c][i];
			square += x * x;
			if (sum[1 + c])
				sum[1 + c][i] += (real)(2 * weight * v->total * x * side * side);
		}
		sum[0][i] += (real)(weight * (v->total * square + v->squares) * side);
	}
}

/* The results of a leaf, in the program's order and units. */
static void P(bring_back)(const struct hd_fmm_value *v, size_t leaf, const real *sums)
{
	const struct heddle_fmm_plan *plan = v->plan;
	const struct hd_fmm_level *l = &hd_fmm_targets(plan)->levels[v->level];
	const struct hd_fmm_group *g = &hd_fmm_target_groups(plan, v->level)->all[v->group];
	double side = plan->counting ? 1 : plan->box.leaf_side;
	const real *sum = sums + (l->first_slot[leaf] - g->first_slot);
	for (size_t i = 0; i < l->count[leaf]; i++) {
		size_t particle = hd_fmm_targets(plan)->order[l->first[leaf] + i];
		if (v->potential)
			((real *)v->potential)[particle] = (real)(sum[i] * v->unit / side);
		for (size_t c = 0; c < 3 && v->gradient; c++) {
			double slope = sum[i + (1 + c) * g->n_slots] * v->unit / side / side;
			((real *)v->gradient)[3 * particle + c] = (real)slope;
		}
	}
}

/* Data: sums; coordinates; local expansions, if there are cells far from these. */
static int P(l2p)(heddle_context *c)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	const struct heddle_fmm_plan *plan = v->plan;
	const struct P(tables) *tables = P(tables_of)(plan);
	const struct hd_fmm_level *level = &hd_fmm_targets(plan)->levels[v->level];
	const struct hd_fmm_group *g = &hd_fmm_target_groups(plan, v->level)->all[v->group];
	const real *all = heddle_context_n_data(c) > 2 ? heddle_ptr(c, 2) : NULL;
	real slopes[3][HD_FMM_MOST_TERMS];
	for (size_t leaf = g->first; leaf < g->first + g->n; leaf++) {
		if (!hd_fmm_is_leaf(level, leaf))
			continue;
		const real *l = all ? all + (leaf - g->first) * tables->stride : NULL;
		const real *at = P(slots_of)(heddle_ptr(c, 1), g, level, leaf);
		real *sum = P(slots_of)(heddle_ptr(c, 0), g, level, leaf), *sums[4] = {sum};
		const struct P(points) points = P(points_of)(v, level, g, leaf, at);
		const real *const of[] = {slopes[0], slopes[1], slopes[2]};
		for (size_t k = 0; k < 3 && v->gradient; k++) {
			sums[1 + k] = sum + (1 + k) * g->n_slots;
			if (l)
				P(slope)(tables->terms, l, tables->derivatives[k], tables->n_derivatives[k], slopes[k]);
		}
		if (l)
			P(local_to_particles)
		(plan->degree, &points, l, of, sums);
		if (plan->box.periodic)
			P(add_background)(v, leaf, &points, sums);
		P(bring_back)(v, leaf, heddle_ptr(c, 0));
	}
	return 0;
}
