/* The kernels of kernels.cu on views. Each puts one operation on the stream of the kernel, and returns 0 or the
 * kernel's failure. */
#ifndef HD_DENSE_CUDA_MOVEMENTS_H
#define HD_DENSE_CUDA_MOVEMENTS_H

#include <dense/cuda/cuda.h>
#include <dense/kernels/view.h>

/* A grid with a thread per row, and a block for every few columns. */
struct heddle_cuda_grid hd_dense_cuda_rectangle(int m, int n);
/* A grid with a block for each column or, if there are many columns, for several; its threads take the rows. */
enum { HD_CUDA_THREADS = 256, HD_CUDA_BLOCKS = 512 }; /* the most threads of a block, and blocks of a grid */
struct heddle_cuda_grid hd_dense_cuda_columns(int m, int n);

/* A grid with a thread for each of n elements. */
struct heddle_cuda_grid hd_dense_cuda_vector(int n);

/* The part of an m x n tile that belongs to a window of a matrix. */
struct hd_dense_cuda_part hd_dense_cuda_part_of(const struct hd_dense_window *w, int m, int n);

/* Flags of cuda_find_zero: what it looks for besides zeros. */
enum { HD_CUDA_NAN = 1, HD_CUDA_INFO = 2 };

#define HD_TEMPLATE <dense/cuda/movements.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* B := scalars[0] A + scalars[1] B in the part, and the effects of `flags` (shapes.h). */
int P(cuda_combine)(heddle_context *c, const struct hd_dense_cuda_part *part, int flags, const element scalars[2],
                    struct P(view) a, struct P(view) b);

/* Runs find_zero, with `found` at the beginning of the workspace; uses cuSOLVER's info in the workspace if `how` has
 * HD_CUDA_INFO. */
int P(cuda_find_zero)(heddle_context *c, struct P(view) a, int how, char *workspace);

#endif
