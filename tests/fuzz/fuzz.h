/* What the fuzzers share: they stop with a message at whatever must not be. */
#ifndef FUZZ_H
#define FUZZ_H

#include <heddle/status.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* libFuzzer calls it with one input after the other. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzzer: %s (%s)\n", what, heddle_last_error());
	abort();
}

#endif
