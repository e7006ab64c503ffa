/* Matrices of translations, and their application: see translations.h. */
#include <dense/kernels/processor.h>
#include <fmm/kernels/translations.h>
#include <stdlib.h>
#include <string.h>

/* Offsets from 0 to 3 in each coordinate, in their order, without the offsets of neighbours. */
unsigned hd_fmm_offset(const int offset[3], unsigned *reflection)
{
	unsigned place = 0, near_before = 0;
	*reflection = 0;
	for (int c = 0; c < 3; c++) {
		*reflection |= (unsigned)(offset[c] < 0) << c;
		place = 4 * place + (unsigned)abs(offset[c]);
	}
	for (unsigned x = 0; x < 2; x++)
		for (unsigned y = 0; y < 2; y++)
			for (unsigned z = 0; z < 2; z++)
				near_before += 16 * x + 4 * y + z < place;
	return place - near_before;
}

#define HD_TEMPLATE <fmm/kernels/translations_template.h>
#include <fmm/kernels/precisions.h>
