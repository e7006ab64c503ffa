/* Pictures of elimination trees. */
#ifndef HD_SHARED_TREE_PICTURE_H
#define HD_SHARED_TREE_PICTURE_H

#include <sparse/internal.h>

/* Draws the tree of an analysis, and below it the memory of a factorisation in postorder, as a function of the
 * operations done. The path's extension determines the format: .png, .svg or .pdf. Returns a status of the library. */
int tree_picture(const struct heddle_sparse_analysis *analysis, const char *title, const char *path);

#endif
