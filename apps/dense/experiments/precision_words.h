/* The words for a precision, as options of applications: heddle/application.h. For each value, the word that tables
 * show comes first, and the shortest word last. */
#ifndef HD_DENSE_PRECISION_WORDS_H
#define HD_DENSE_PRECISION_WORDS_H

#include <heddle/application.h>
#include <heddle/dense.h>

static const struct heddle_word hd_dense_precision_words[] = {
    {"double", HEDDLE_DENSE_DOUBLE},
    {"single", HEDDLE_DENSE_SINGLE},
    {"complex double", HEDDLE_DENSE_COMPLEX_DOUBLE},
    {"complex single", HEDDLE_DENSE_COMPLEX_SINGLE},
    {"complex", HEDDLE_DENSE_COMPLEX_DOUBLE},
    {"complex-single", HEDDLE_DENSE_COMPLEX_SINGLE},
    {"d", HEDDLE_DENSE_DOUBLE},
    {"s", HEDDLE_DENSE_SINGLE},
    {"z", HEDDLE_DENSE_COMPLEX_DOUBLE},
    {"c", HEDDLE_DENSE_COMPLEX_SINGLE},
    {NULL, 0},
};

#endif
