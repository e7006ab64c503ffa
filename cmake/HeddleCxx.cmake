# C++ is for src/bounds/lp.cpp, which catches what CLP throws, for users of heddle.hpp, and for kernels in CUDA C that
# tests run without a GPU: all else is C. The compiler is the one that goes with the C compiler.
if(CMAKE_C_COMPILER_ID MATCHES Clang AND NOT CMAKE_CXX_COMPILER)
	string(REGEX REPLACE "clang([^/]*)$" "clang++\\1" CMAKE_CXX_COMPILER "${CMAKE_C_COMPILER}")
endif()
enable_language(CXX)

# heddle_cxx_program(TARGET SOURCE): a program that uses heddle.hpp. It is templates, which take long to optimise: they
# are optimised a little, or, where a sanitizer looks, not at all. A program that is measured asks for more.
function(heddle_cxx_program target source)
	add_executable(${target} ${source})
	set_target_properties(${target} PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
	set(optimise -O1)
	if(HEDDLE_SANITIZE)
		set(optimise -O0)
	endif()
	target_compile_options(${target} PRIVATE -Wpedantic ${optimise} -g1)
	target_link_libraries(${target} PRIVATE heddle_flags heddle Threads::Threads)
endfunction()
