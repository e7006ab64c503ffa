/* heddle_memory_pin and heddle_memory_unpin: page-locks memory of the program, which devices can then copy fastest. */
#include "state/engine.h"
#include "state/process.h"
#include "state/runtime.h"

int heddle_memory_pin(heddle_runtime *rt, void *memory, size_t bytes)
{
	if (!rt || !memory || bytes == 0)
		return hd_error(HEDDLE_E_INVALID, "heddle_memory_pin needs a runtime and memory");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	return rt->engine->pin ? rt->engine->pin(rt, memory, bytes) : 0;
}

void heddle_memory_unpin(heddle_runtime *rt, void *memory)
{
	if (rt && memory && !hd_check_process(rt) && rt->engine->unpin)
		rt->engine->unpin(rt, memory);
}
