/* One precision of test_dense_opencl_qr.c. */

enum { P(precision) = 2 * COMPLEX + (sizeof(real) == sizeof(float)) };

/* Upper triangles of order ib, one beside the other. */
static struct P(view) P(random_factor)(int ib, int n)
{
	struct P(view) t = P(random_view)(ib, n, 9);
	for (int j = 0; j < n; j++)
		for (int i = j % ib + 1; i < ib; i++)
			*P(at)(t, i, j) = 0;
	return t;
}

static heddle_data *P(register_view)(heddle_runtime *rt, struct P(view) a)
{
	heddle_data *data;
	OK(heddle_matrix(rt, a.a, (size_t)a.m, (size_t)a.n, (size_t)a.ld, sizeof(element), &data));
	return data;
}

/* Runs one task on C1, if the kernel has it, C2, V and T. */
static void P(run)(struct side *side, enum hd_dense_op op, const struct P(view) x[4], struct hd_dense_qr_values how)
{
	heddle_data *data[5];
	size_t n = op == HD_DENSE_GEMQRT ? 1 : 0, first = n;
	for (; n < 4; n++)
		data[n] = P(register_view)(side->rt, x[n]);
	OK(heddle_vector(side->rt, NULL, hd_qr_work(x[2].m, x[3].m), sizeof(element), &data[4]));
	struct heddle_item items[] = {heddle_call(side->dense->codelets[P(precision)][op]),
	                              heddle_value(how),
	                              heddle_rw(data[1]),
	                              heddle_r(data[2]),
	                              heddle_r(data[3]),
	                              heddle_scratch(data[4])};
	if (first == 0) {
		struct heddle_item with_top[] = {items[0], items[1], heddle_rw(data[0]), items[2], items[3],
		                                 items[4], items[5]};
		OK(heddle_submit_items(side->rt, 7, with_top));
	} else
		OK(heddle_submit_items(side->rt, 6, items));
	OK(heddle_wait_all(side->rt));
	for (n = first; n < 5; n++)
		OK(heddle_unregister(data[n]));
}

/* A task on the device and on a core, with V of m rows and k columns, applied to n columns (or rows). */
static void P(compare)(enum hd_dense_op op, const int mkn[3], int ib, struct hd_dense_qr_values how)
{
	int left = how.side == HEDDLE_DENSE_LEFT, top = how.first + mkn[1], m = mkn[0], n = mkn[2];
	struct P(view) c1 = left ? P(random_view)(top, n, 1) : P(random_view)(n, top, 1);
	struct P(view) c2 = left ? P(random_view)(m, n, 2) : P(random_view)(n, m, 2);
	struct P(view) v = P(random_view)(m, mkn[1], 3), t = P(random_factor)(ib, mkn[1]);
	const struct P(view) ours[4] = {P(copy)(c1), P(copy)(c2), v, t}, wanted[4] = {c1, c2, v, t};
	P(run)(&device, op, ours, how);
	P(run)(&core, op, wanted, how);
	double scale = (1 + P(norm)(v)) * (1 + P(norm)(t)) * (1 + P(norm)(v)) * (P(norm)(wanted[1]) + P(norm)(c2));
	P(check_same)(ours[0], wanted[0], scale);
	P(check_same)(ours[1], wanted[1], scale);
	P(free_view)(c1), P(free_view)(c2), P(free_view)(v), P(free_view)(t);
	P(free_view)(ours[0]), P(free_view)(ours[1]);
}

static void P(products_with_q_are_those_of_a_core)(void **state)
{
	static const int shapes[][3] = {{40, 24, 33}, {24, 24, 1}, {50, 7, 20}, {1, 1, 5}, {70, 64, 40}};
	(void)state;
	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
		for (int v = 0; v < 8; v++) {
			struct hd_dense_qr_values how = {
			    .side = v & 1 ? HEDDLE_DENSE_RIGHT : HEDDLE_DENSE_LEFT,
			    .trans = v & 2 ? HEDDLE_DENSE_CONJ_TRANS : HEDDLE_DENSE_NO_TRANS,
			    .first = v & 4 && shapes[s][0] > shapes[s][1] ? shapes[s][0] - shapes[s][1] : 0};
			P(compare)(HD_DENSE_TSMQR, shapes[s], 8, how);
			P(compare)(HD_DENSE_TTMQR, shapes[s], 8, how);
			P(compare)(HD_DENSE_GEMQRT, shapes[s], 5, how);
		}
}
