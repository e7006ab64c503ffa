/* libFuzzer on task graphs in .dot files: see fuzz_graph.h. */
#include "fuzz_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return try_reader(hd_graph_parse_dot, data, size);
}
