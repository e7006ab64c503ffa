/* Products and triangular solvers in four precisions. */
#include <dense/kernels/blas3.h>
#include <dense/kernels/halves.h>
#include <dense/kernels/processor.h>
#include <dense/kernels/vectors.h>
#include <string.h>

/* The sizes of the parts in which a product is computed fastest. */
struct piece {
	int use; /* 1: in parts; 0: the whole product at once */
	int m, n, k;
};

/* On processors with AVX-512, OpenBLAS computes small products of real matrices without copying the operands. Small
 * products then have 1.1 times the rate of large products, and 1.3 times if one extent is as short as a block of
 * reflectors. A product is small if m n k <= 10^6; if only the first factor is transposed, m n <= 1200 must hold, too.
 * If all extents are large (measured: from 224 on), the operands are not in the nearest caches, and copying is as
 * fast. */
static int has_small_products(void)
{
	static const char *const cores[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
	const char *core = openblas_get_corename ? openblas_get_corename() : "";
	for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
		if (strcmp(core, cores[i]) == 0)
			return 1;
	return 0;
}

/* Whether columns `ld` elements apart compete for the same few sets of a cache, unless they are copied. */
static int is_crowded(int ld, size_t elem_size)
{
	enum { PAGE = 4096 };
	return (size_t)ld * elem_size % PAGE == 0;
}

/* The size of the parts into which n is divided: at most `most`, nearly equal, and multiples of the elements of a
 * register. */
static int part_of(int n, int most)
{
	enum { UNIT = 8 };
	int parts = (n + most - 1) / most, part = (n + parts - 1) / parts;
	return most < UNIT ? most : hd_smaller((part + UNIT - 1) / UNIT, most / UNIT) * UNIT;
}

static struct piece product_piece(struct hd_ops ops, int m, int n, int k)
{
	enum { SMALL = 1000000, SMALL_RESULT = 1200, DEEP = 512, WIDE = 32, LARGE = 200 };
	int dots = ops.a != CblasNoTrans && ops.b == CblasNoTrans;
	if (m > LARGE && n > LARGE && k > LARGE)
		return (struct piece){.use = 0};
	if (k == 0 || ((double)m * n * k <= SMALL && (!dots || m * n <= SMALL_RESULT)) || !has_small_products())
		return (struct piece){.use = 0};
	int depth = part_of(k, DEEP), area = dots ? hd_smaller(SMALL / depth, SMALL_RESULT) : SMALL / depth;
	int height = part_of(m, hd_smaller(m, area / hd_smaller(n, WIDE)));
	return (struct piece){.use = 1, .m = height, .n = part_of(n, area / height), .k = depth};
}

#define HD_TEMPLATE <dense/kernels/blas3_template.h>
#include <dense/kernels/precisions.h>
