/* CLP, which solves the linear programs of the bounds: its model, and a guard against its exceptions. */
#ifndef HD_BOUNDS_LP_H
#define HD_BOUNDS_LP_H

#include <Clp_C_Interface.h>
#include <math.h>
#include "bounds/internal.h"

/* Runs work(arg), in which CLP is called, and returns its result. CLP is C++: when it throws, `work` does not return,
 * so that all memory that `work` allocates, except the model, must be reachable from `arg`. Then the result is
 * HEDDLE_E_MEMORY, or HEDDLE_E_UNSUPPORTED with CLP's message; the model is lost, because its state is unknown. */
int hd_lp_run(int (*work)(void *arg), void *arg);

/* An empty program, about which CLP prints nothing. To be called by `work`, which deletes it by Clp_deleteModel.
 *
 * Among the many equally good solutions, a solution of the program with slightly changed costs (PERTURBED) makes the
 * iterative bound take a third of the rounds. From this solution CLP solves the unchanged program, so the bound stays
 * the same. The callers scale the times. */
static inline Clp_Simplex *hd_lp_new(void)
{
	enum { SILENT = 0, UNSCALED = 0, PERTURBED = 50 };
	Clp_Simplex *model = Clp_newModel();
	Clp_setLogLevel(model, SILENT);
	Clp_scaling(model, UNSCALED);
	Clp_setPerturbation(model, PERTURBED);
	Clp_setDualTolerance(model, 1e-9); /* with 1e-7, prices would be worse than the best prices by as much */
	return model;
}

/* The price of a resource: the amount by which the least T falls if the row's upper limit grows by one unit; never
 * negative. */
static inline double hd_lp_price(Clp_Simplex *model, int row)
{
	return fmax(0, -Clp_dualRowSolution(model)[row]);
}

#endif
