/* Makes code for four precisions from one source. A file defines HD_TEMPLATE as <name of a header> and includes
 * precisions.h, which includes that header four times: for double, single, complex double and complex single; with
 * HD_TWO_PRECISIONS, for tests that would take too long, for double and complex single only. Afterwards HD_TEMPLATE is
 * undefined. Within the header, these names are defined:
 *
 *   element       the type of an element: double, float, double _Complex, float _Complex
 *   real          the type of its absolute value: double or float
 *   COMPLEX       1 if elements are complex, else 0
 *   LETTER        the letter of the precision, as a character: 'd', 's', 'z', 'c'
 *   P(x)          our name of x, which begins with hd_d_, hd_s_, hd_z_ or hd_c_
 *   BLAS(x)       CBLAS's function x: cblas_dx ...
 *   LAPACK(x)     LAPACKE's function x: LAPACKE_dx ...
 *   HERMITIAN(x)  CBLAS's function x for symmetric matrices if elements are real, for Hermitian ones if complex:
 *                 cblas_dsyx, cblas_zhex. The scalars of herk are of type `real`, see the standard
 *   UNITARY(x)    LAPACKE's function x for orthogonal or unitary matrices: LAPACKE_dorx, LAPACKE_zunx
 *   SCALAR(v)     the element v as an argument of CBLAS: by value if real, by address if complex
 *   CONJ(v), REAL(v), IMAG(v), ABS(v)   conjugate, parts and absolute value of an element
 *   ABS1(v) |real part| + |imaginary part|, by which LAPACK chooses pivots
 *   MATH(x)       the function x of <math.h> for `real`: sqrt or sqrtf
 *   EPSILON       the machine's epsilon of `real`, the distance of 1 to the next number
 *
 * CblasConjTrans works for all precisions: for real elements it means the same as CblasTrans.
 *
 * This file has no guard, because it is included once per template. */
#include <cblas.h>
#include <complex.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>

#define element double
#define real double
#define COMPLEX 0
#define LETTER 'd'
#define P(x) hd_d_##x
#define BLAS(x) cblas_d##x
#define LAPACK(x) LAPACKE_d##x
#define HERMITIAN(x) cblas_dsy##x
#define UNITARY(x) LAPACKE_dor##x
#define SCALAR(v) (v)
#define CONJ(v) (v)
#define REAL(v) (v)
#define IMAG(v) (0.0)
#define ABS(v) fabs(v)
#define ABS1(v) fabs(v)
#define MATH(x) x
#define EPSILON DBL_EPSILON
#include HD_TEMPLATE
#undef element
#undef real
#undef LETTER
#undef P
#undef BLAS
#undef LAPACK
#undef HERMITIAN
#undef UNITARY
#undef IMAG
#undef ABS
#undef ABS1
#undef MATH
#undef EPSILON

#define element float
#define real float
#define LETTER 's'
#define P(x) hd_s_##x
#define BLAS(x) cblas_s##x
#define LAPACK(x) LAPACKE_s##x
#define HERMITIAN(x) cblas_ssy##x
#define UNITARY(x) LAPACKE_sor##x
#define IMAG(v) (0.0f)
#define ABS(v) fabsf(v)
#define ABS1(v) fabsf(v)
#define MATH(x) x##f
#define EPSILON FLT_EPSILON
#ifndef HD_TWO_PRECISIONS
#include HD_TEMPLATE
#endif
#undef element
#undef real
#undef COMPLEX
#undef LETTER
#undef P
#undef BLAS
#undef LAPACK
#undef HERMITIAN
#undef UNITARY
#undef SCALAR
#undef CONJ
#undef REAL
#undef IMAG
#undef ABS
#undef ABS1
#undef MATH
#undef EPSILON

#define element double _Complex
#define real double
#define COMPLEX 1
#define LETTER 'z'
#define P(x) hd_z_##x
#define BLAS(x) cblas_z##x
#define LAPACK(x) LAPACKE_z##x
#define HERMITIAN(x) cblas_zhe##x
#define UNITARY(x) LAPACKE_zun##x
#define SCALAR(v) (&(element){v})
#define CONJ(v) conj(v)
#define REAL(v) creal(v)
#define IMAG(v) cimag(v)
#define ABS(v) cabs(v)
#define ABS1(v) (fabs(creal(v)) + fabs(cimag(v)))
#define MATH(x) x
#define EPSILON DBL_EPSILON
#ifndef HD_TWO_PRECISIONS
#include HD_TEMPLATE
#endif
#undef element
#undef real
#undef LETTER
#undef P
#undef BLAS
#undef LAPACK
#undef HERMITIAN
#undef UNITARY
#undef CONJ
#undef REAL
#undef IMAG
#undef ABS
#undef ABS1
#undef MATH
#undef EPSILON

#define element float _Complex
#define real float
#define LETTER 'c'
#define P(x) hd_c_##x
#define BLAS(x) cblas_c##x
#define LAPACK(x) LAPACKE_c##x
#define HERMITIAN(x) cblas_che##x
#define UNITARY(x) LAPACKE_cun##x
#define CONJ(v) conjf(v)
#define REAL(v) crealf(v)
#define IMAG(v) cimagf(v)
#define ABS(v) cabsf(v)
#define ABS1(v) (fabsf(crealf(v)) + fabsf(cimagf(v)))
#define MATH(x) x##f
#define EPSILON FLT_EPSILON
#include HD_TEMPLATE
#undef element
#undef real
#undef COMPLEX
#undef LETTER
#undef P
#undef BLAS
#undef LAPACK
#undef HERMITIAN
#undef UNITARY
#undef SCALAR
#undef CONJ
#undef REAL
#undef IMAG
#undef ABS
#undef ABS1
#undef MATH
#undef EPSILON

#undef HD_TEMPLATE
