/* libFuzzer on task graphs in .json files: see fuzz_graph.h. */
#include "fuzz_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return try_reader(hd_graph_parse_json, data, size);
}
