# Flags of everything that is compiled here, as one interface target: heddle_flags.

option(HEDDLE_DEVELOPER
	"warnings are errors; build tests, examples and benches; find platforms in this source tree" OFF)
set(HEDDLE_SANITIZE "" CACHE STRING "sanitizers to build with, such as address,undefined or thread")
option(HEDDLE_FUZZ "build the fuzzers of tests/fuzz (clang only)" OFF)

add_library(heddle_flags INTERFACE)
target_compile_features(heddle_flags INTERFACE c_std_11)
target_compile_options(heddle_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion
	$<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
	# gcc, which builds everything too, judges these better: clang objects to an enum in an int
	target_compile_options(heddle_flags INTERFACE -Wno-sign-conversion -Wno-implicit-int-float-conversion)
endif()
if(HEDDLE_DEVELOPER)
	target_compile_options(heddle_flags INTERFACE -Werror)
endif()
if(HEDDLE_SANITIZE)
	set(sanitize -fsanitize=${HEDDLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_compile_options(heddle_flags INTERFACE ${sanitize})
	target_compile_definitions(heddle_flags INTERFACE HD_CHECKED) # see base/lock.h
	target_link_options(heddle_flags INTERFACE ${sanitize})
endif()
# Each test is linked with all of the library; lld needs a quarter of the time. Releases keep the usual linker.
find_program(LLD ld.lld)
if(LLD AND HEDDLE_DEVELOPER)
	target_link_options(heddle_flags INTERFACE -fuse-ld=lld)
endif()
