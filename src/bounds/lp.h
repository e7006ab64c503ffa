/* CLP, which solves the linear programs of the bounds: its model, and what guards against its exceptions. */
#ifndef HD_BOUNDS_LP_H
#define HD_BOUNDS_LP_H

#include <Clp_C_Interface.h>
#include <math.h>
#include "bounds/internal.h"

/* Runs work(arg), in which CLP is called, and returns its result. CLP is C++: where it throws, `work` does not return,
 * so that all that `work` allocates but the model must be reachable from `arg`. Then HEDDLE_E_MEMORY, or
 * HEDDLE_E_UNSUPPORTED with what CLP says; the model is lost, because nobody knows what state it is in. */
int hd_lp_run(int (*work)(void *arg), void *arg);

/* An empty program, of which CLP prints nothing. To be called by `work`, which deletes it by Clp_deleteModel.
 *
 * Of the many solutions that are equally good, one of a program whose costs are changed a little (PERTURBED) makes the
 * iterative bound take a third of the rounds. CLP solves the program itself from there, so the bound stays what it is.
 * The times are scaled by the callers. */
static inline Clp_Simplex *hd_lp_new(void)
{
	enum { SILENT = 0, UNSCALED = 0, PERTURBED = 50 };
	Clp_Simplex *model = Clp_newModel();
	Clp_setLogLevel(model, SILENT);
	Clp_scaling(model, UNSCALED);
	Clp_setPerturbation(model, PERTURBED);
	Clp_setDualTolerance(model, 1e-9); /* with 1e-7, prices are worse by that much than the best ones */
	return model;
}

/* The price of a resource: by how much the least T falls for one unit more of the row's upper limit; never negative. */
static inline double hd_lp_price(Clp_Simplex *model, int row)
{
	return fmax(0, -Clp_dualRowSolution(model)[row]);
}

#endif
