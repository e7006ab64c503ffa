/* CLP, which solves the linear programs of the bounds: makes its model, and guards against its exceptions. */
#ifndef HD_BOUNDS_LP_H
#define HD_BOUNDS_LP_H

#include <Clp_C_Interface.h>
#include <math.h>
#include "bounds/internal.h"

/* Runs work(arg), which calls CLP, and returns its result. If CLP, which is C++, throws an exception, `work` does not
 * return; so all memory that `work` allocates, except the model, must be reachable from `arg`. The result is then
 * HEDDLE_E_MEMORY, or HEDDLE_E_UNSUPPORTED with CLP's message; the model is not freed, because its state is unknown. */
int hd_lp_run(int (*work)(void *arg), void *arg);

/* Makes an empty program, about which CLP prints nothing. `work` calls it, and deletes the program by Clp_deleteModel.
 *
 * With PERTURBED, CLP first solves the program with slightly changed costs, and from there the unchanged one. Of the
 * many equally good solutions this gives one with which the iterative bound takes a third of the rounds; the bound
 * stays the same. UNSCALED: the callers scale the times. */
static inline Clp_Simplex *hd_lp_new(void)
{
	enum { SILENT = 0, UNSCALED = 0, PERTURBED = 50 };
	Clp_Simplex *model = Clp_newModel();
	Clp_setLogLevel(model, SILENT);
	Clp_scaling(model, UNSCALED);
	Clp_setPerturbation(model, PERTURBED);
	Clp_setDualTolerance(model, 1e-9); /* with 1e-7, prices would be off by as much */
	return model;
}

/* The price of a resource, that is, of a row: by how much the least T falls if the row's upper limit grows by 1; never
 * negative. */
static inline double hd_lp_price(Clp_Simplex *model, int row)
{
	return fmax(0, -Clp_dualRowSolution(model)[row]);
}

#endif
