/* A program outside Heddle's tree that uses libheddle-daggen. Prints the version. */
#include <heddle/daggen/random.h>
#include <heddle/daggen/typed.h>
#include <stdio.h>

int main(void)
{
	struct heddle_daggen_layers parameters;
	struct heddle_graph *graph;
	heddle_daggen_random_init(&parameters);
	if (heddle_daggen_random_set(&parameters, "n=50,seed=3") || heddle_daggen_random(&parameters, &graph)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	size_t n = graph->n_tasks;
	heddle_graph_free(graph);
	heddle_daggen_typed_free(&(struct heddle_daggen_typed_graph){0});
	printf("%s\n", n == 50 ? heddle_version() : "?");
	return 0;
}
