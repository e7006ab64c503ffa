/* The order in which a QR factorisation eliminates tiles.
 *
 * Flat: the tile on the diagonal eliminates all tiles below it, one after the other, with TS kernels (Buttari, Langou,
 * Kurzak, Dongarra: A class of parallel tiled linear algebra algorithms for multicore architectures, 2009).
 *
 * Greedy: every tile becomes a triangle; then, in all columns at the same time, all pairs of triangles that exist are
 * combined into one triangle each, from the bottom up (Bouwmeester, Jacquelin, Langou, Robert: Tiled QR factorization
 * algorithms, 2011, algorithm 4).
 *
 * Domains: flat within blocks of rows (domains); then the first tiles of the domains, which are triangles, by pairs, as
 * a binary tree (Hadri, Ltaief, Agullo, Dongarra: Tile QR factorization with parallel panel processing for multicore
 * architectures, 2010).
 */
#include <dense/routines/qr.h>
#include <stdlib.h>

/* Makes a tree of domains. In each column, domains are counted from the diagonal. A flat tree has one domain. */
static void in_domains(struct hd_qr_tree *tree, size_t domain)
{
	struct hd_qr_elimination *next = tree->list;
	for (size_t k = 0; k < tree->kt; k++) {
		for (size_t i = k + 1; i < tree->mt; i++)
			if ((i - k) % domain != 0)
				*next++ = (struct hd_qr_elimination){(uint32_t)i, (uint32_t)(i - (i - k) % domain), 1};
		for (size_t apart = domain; k + apart < tree->mt; apart *= 2)
			for (size_t i = k + apart; i < tree->mt; i += 2 * apart)
				*next++ = (struct hd_qr_elimination){(uint32_t)i, (uint32_t)(i - apart), 0};
	}
}

/* The progress in a column of tiles: numbers of tiles, counted from the bottom. */
struct progress {
	size_t triangles, zeros;
};

/* Eliminates half of the triangles that column k had after the previous step. Returns their number. */
static size_t step(struct hd_qr_tree *tree, struct progress *columns, size_t k)
{
	struct progress *column = &columns[k];
	size_t pairs = (column->triangles - column->zeros) / 2;
	struct hd_qr_elimination *list = tree->list + hd_qr_first(tree, k);
	for (size_t p = 0; p < pairs; p++) {
		size_t killed = tree->mt - 1 - column->zeros - p;
		list[column->zeros + p] = (struct hd_qr_elimination){(uint32_t)killed, (uint32_t)(killed - pairs), 0};
	}
	column->zeros += pairs;
	column->triangles = k == 0 ? tree->mt : columns[k - 1].zeros;
	return pairs;
}

static int greedy(struct hd_qr_tree *tree, size_t n)
{
	struct progress *columns = calloc(tree->kt + 1, sizeof *columns);
	if (!columns)
		return 0;
	for (size_t done = 0; done < n;)
		for (size_t k = tree->kt; k-- > 0;)
			done += step(tree, columns, k);
	free(columns);
	return 1;
}

struct hd_qr_tree *hd_qr_tree_new(enum heddle_dense_tree kind, size_t domain, size_t mt, size_t kt)
{
	size_t n = kt * mt - kt * (kt + 1) / 2;
	struct hd_qr_tree *tree = malloc(sizeof *tree + n * sizeof *tree->list);
	if (!tree)
		return NULL;
	tree->mt = mt;
	tree->kt = kt;
	if (kind != HEDDLE_DENSE_GREEDY) {
		in_domains(tree, kind == HEDDLE_DENSE_DOMAINS ? domain : mt);
	} else if (!greedy(tree, n)) {
		free(tree);
		return NULL;
	}
	return tree;
}
