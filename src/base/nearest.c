/* Finds the word that a misspelt word was meant to be, by the optimal string alignment distance (Damerau 1964), in
 * which two swapped neighbours count as one error. */
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "base/base.h"

enum { LONGEST = 64 }; /* no name in Heddle has more letters */

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;
	return m < c ? m : c;
}

static int differ(char a, char b)
{
	return hd_lower(a) != hd_lower(b);
}

size_t hd_slips(const char *a, const char *b)
{
	/* rows[i % 3][j] is the distance between the first i letters of `a` and the first j letters of `b`; the last
	 * three rows of the table are kept. */
	size_t n = strlen(a), m = strlen(b), rows[3][LONGEST + 1];
	if (n > LONGEST || m > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t changed = above[j - 1] + (size_t)differ(a[i - 1], b[j - 1]);
			row[j] = smallest(row[j - 1] + 1, above[j] + 1, changed);
			int swapped = i > 1 && j > 1 && !differ(a[i - 1], b[j - 2]) && !differ(a[i - 2], b[j - 1]);
			if (swapped && two_above[j - 2] + 1 < row[j])
				row[j] = two_above[j - 2] + 1;
		}
	}
	return rows[n % 3][m];
}

const char *hd_nearest(const char *word, const char *const *candidates, size_t n)
{
	const char *best = NULL;
	/* the distance must be less than this: a third of the word's letters may be wrong, and one more */
	size_t nearest = strlen(word) / 3 + 2;
	for (size_t i = 0; i < n; i++) {
		size_t slips = hd_slips(word, candidates[i]);
		if (slips < nearest && slips < strlen(candidates[i])) {
			nearest = slips;
			best = candidates[i];
		}
	}
	/* if none is near: `word` may be the beginning of a candidate */
	for (size_t i = 0; !best && i < n && strlen(word) >= 2; i++)
		if (strncasecmp(word, candidates[i], strlen(word)) == 0)
			best = candidates[i];
	return best;
}
