/* Pictures of elimination trees. */
#ifndef HD_SHARED_TREE_PICTURE_H
#define HD_SHARED_TREE_PICTURE_H

#include <sparse/internal.h>

/* Draws the tree of an analysis, and below it the memory that a factorisation in postorder takes, over the operations
 * that are done. The path's extension is the format: .png, .svg or .pdf. A status of the library. */
int tree_picture(const struct heddle_sparse_analysis *analysis, const char *title, const char *path);

#endif
