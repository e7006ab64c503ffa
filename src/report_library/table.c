/* The table by which libheddle.so calls this library: see report/report.h. */
#include "base/base.h"
#include "report/report.h"

#define FIELD(name, parameters, arguments) .name = hd_##name,
const struct hd_report hd_report = {.version = HD_VERSION, .error = hd_error, HD_REPORT_FUNCTIONS(FIELD)};
