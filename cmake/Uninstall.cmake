# cmake -DMANIFEST=FILE -P Uninstall.cmake: removes the files that an installation has listed in its manifest, what
# Python has compiled of them, and those folders of Heddle's own that are left empty. Honours DESTDIR.
cmake_minimum_required(VERSION 3.20)
if(NOT EXISTS "${MANIFEST}")
	message(FATAL_ERROR "Nothing is removed: ${MANIFEST}, in which `make install` lists what it installs, is not "
		"there. Install again with the same BUILD and PREFIX, and then uninstall.")
endif()

# Removes a folder and those above it, as long as they are empty and Heddle's own.
function(remove_empty folder)
	while(IS_DIRECTORY "${folder}" AND folder MATCHES "/[Hh]eddle(-starpu)?(/|$)")
		file(GLOB inside LIST_DIRECTORIES true "${folder}/*" "${folder}/.*")
		list(FILTER inside EXCLUDE REGEX "/\\.\\.?$")
		if(inside)
			return()
		endif()
		file(REMOVE_RECURSE "${folder}")
		get_filename_component(folder "${folder}" DIRECTORY)
	endwhile()
endfunction()

file(STRINGS "${MANIFEST}" files)
foreach(file ${files})
	set(file "$ENV{DESTDIR}${file}")
	get_filename_component(folder "${file}" DIRECTORY)
	get_filename_component(name "${file}" NAME_WLE)
	file(GLOB compiled "${folder}/__pycache__/${name}.*.pyc")
	file(REMOVE "${file}" ${compiled})
	if(EXISTS "${file}" OR IS_SYMLINK "${file}")
		message(FATAL_ERROR "${file} cannot be removed: who may write in ${folder} must do it "
			"(sudo make uninstall)")
	endif()
	remove_empty("${folder}/__pycache__")
	remove_empty("${folder}")
endforeach()
list(LENGTH files n)
message("${n} files removed, which ${MANIFEST} lists")
