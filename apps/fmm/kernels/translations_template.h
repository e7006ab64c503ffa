/* One precision of translations.c. */

/* --- Tables ------------------------------------------------------------------------------------------------------- */

/* Rounds a matrix of `terms` rows and columns, of which row i is multiplied by 2^(-degree of i) if `halved`. */
static void P(store)(const struct P(tables) * t, const double *matrix, int halved, real *out)
{
	for (size_t j = 0; j < t->terms; j++)
		for (int n = 0; n <= t->degree; n++)
			for (size_t i = (size_t)(n * n); i < hd_fmm_terms(n); i++)
				out[i + j * t->stride] =
				    t->counting ? 1 : (real)(matrix[i + j * t->terms] / (halved ? 1 << n : 1));
}

/* A child's coordinate u is (u + b) / 2 for its parent, b its centre: R_n((u + b) / 2) = 2^-n R_n(u + b). */
static void P(store_up)(struct P(tables) * t, double *work)
{
	const double b[] = {0.5, 0.5, 0.5};
	memset(work, 0, t->terms * t->terms * sizeof *work);
	hd_fmm_shift(t->degree, b, work, t->terms);
	P(store)(t, work, 1, t->up);
}

static void P(store_far)(struct P(tables) * t, double *work)
{
	for (int x = 0; x < 4; x++)
		for (int y = 0; y < 4; y++)
			for (int z = 0; z < 4; z++) {
				const int offset[] = {x, y, z};
				const double at[] = {x, y, z};
				unsigned reflection;
				if (x < 2 && y < 2 && z < 2)
					continue;
				memset(work, 0, t->terms * t->terms * sizeof *work);
				hd_fmm_multipole_to_local(t->degree, at, work, t->terms);
				P(store)(t, work, 0, t->far[hd_fmm_offset(offset, &reflection)]);
			}
}

static int P(store_derivatives)(struct P(tables) * t, double *work)
{
	for (int c = 0; c < 3; c++) {
		struct hd_fmm_element *e = t->derivatives[c] = malloc((4 * t->terms + 1) * sizeof *e);
		if (!e)
			return -1;
		memset(work, 0, t->terms * t->terms * sizeof *work);
		hd_fmm_derivative(t->degree, c, work, t->terms);
		for (size_t i = 0; i < t->terms * t->terms; i++)
			if (work[i] != 0)
				e[t->n_derivatives[c]++] = (struct hd_fmm_element){(unsigned)(i % t->terms),
				                                                   (unsigned)(i / t->terms), work[i]};
	}
	return 0;
}

static int P(allocate)(struct P(tables) * t)
{
	size_t matrix = t->stride * t->terms;
	size_t bytes = ((HD_FMM_MATRICES + 1) * matrix + HD_FMM_REFLECTIONS * t->stride) * sizeof(real);
	real *at = t->memory = aligned_alloc(64, bytes);
	if (!at)
		return -1;
	memset(at, 0, bytes);
	t->up = at;
	for (int i = 0; i < HD_FMM_MATRICES; i++)
		t->far[i] = at += matrix;
	at += matrix;
	for (int i = 0; i < HD_FMM_REFLECTIONS; i++, at += t->stride)
		t->signs[i] = at;
	return 0;
}

int P(tables_make)(struct P(tables) * t, int degree, int counting)
{
	double signs[HD_FMM_MOST_TERMS];
	*t = (struct P(tables)){.degree = degree, .terms = hd_fmm_terms(degree), .counting = counting};
	t->stride = (t->terms + LANES - 1) / LANES * LANES;
	double *work = malloc(t->terms * t->terms * sizeof *work);
	int status = work ? P(allocate)(t) : -1;
	if (status == 0) {
		P(store_up)(t, work);
		P(store_far)(t, work);
		status = P(store_derivatives)(t, work);
		for (int r = 0; r < HD_FMM_REFLECTIONS; r++) {
			hd_fmm_signs(degree, r, signs);
			for (size_t i = 0; i < t->terms; i++)
				t->signs[r][i] = (real)signs[i];
		}
	}
	free(work);
	return status;
}

int P(tables_add_images)(struct P(tables) * t)
{
	double *work = calloc(t->terms * t->terms, sizeof *work);
	if (!work)
		return -1;
	hd_fmm_images_to_local(t->degree, work, t->terms);
	P(store)(t, work, 0, t->far[HD_FMM_IMAGES]);
	free(work);
	return 0;
}

void P(tables_free)(struct P(tables) * t)
{
	for (int c = 0; c < 3; c++)
		free(t->derivatives[c]);
	free(t->memory);
	*t = (struct P(tables)){.degree = 0};
}

/* --- Translations ------------------------------------------------------------------------------------------------- */

HD_CLONES static void P(gather)(const struct P(tables) * t, const struct P(translation) * all, size_t n, real *out)
{
	for (size_t k = 0; k < n; k++, out += t->stride) {
		const real *restrict from = all[k].from, *restrict signs = t->signs[all[k].reflection];
		for (size_t j = 0; j < t->stride; j++)
			out[j] = from[j] * signs[j];
	}
}

HD_CLONES static void P(scatter)(const struct P(tables) * t, const struct P(translation) * all, size_t n,
                                 const real *in)
{
	for (size_t k = 0; k < n; k++, in += t->stride) {
		real *restrict to = all[k].to;
		const real *restrict signs = t->signs[all[k].reflection];
		for (size_t j = 0; j < t->stride; j++)
			to[j] += in[j] * signs[j];
	}
}

void P(translate)(const struct P(tables) * t, struct P(operator) by, const struct P(translation) * all, size_t n,
                  real *work)
{
	real *in = work, *out = work + HD_FMM_COLUMNS * t->stride;
	int terms = (int)t->terms, stride = (int)t->stride;
	for (size_t done = 0; done < n; done += HD_FMM_COLUMNS) {
		size_t columns = n - done < HD_FMM_COLUMNS ? n - done : HD_FMM_COLUMNS;
		P(gather)(t, all + done, columns, in);
		BLAS(gemm)
		(CblasColMajor, by.transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, terms, (int)columns, terms,
		 by.factor, by.matrix, stride, in, stride, 0, out, stride);
		P(scatter)(t, all + done, columns, out);
	}
}
