/* A call of the library that must succeed; its message otherwise. */
#ifndef TEST_OK_H
#define TEST_OK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <heddle.h>

#define OK(call)                                                                                           \
	do {                                                                                               \
		int ok_status = (call);                                                                    \
		if (ok_status != 0)                                                                        \
			fail_msg("%s: %s: %s", #call, heddle_status_name(ok_status), heddle_last_error()); \
	} while (0)

#endif
