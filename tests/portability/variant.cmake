# SPDX-License-Identifier: Apache-2.0
# Builds the root with -DASSAY_CORE=ON in BINARY by CXX and C at LEVEL, for the processor SYSTEM if given, then
# runs each command of RUN, with " && " between them, in BINARY. Without CXX nothing is built. Fails at the first
# thing that does.
function(need program package)
  find_program(found_${program} ${program})
  if(NOT found_${program})
    message(FATAL_ERROR "${program} is missing: apt-get install ${package}")
  endif()
endfunction()

function(run)
  string(JOIN " " line ${ARGN})
  message("$ ${line}")
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${BINARY} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${line}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${BINARY})
if(CXX)
  need(${CXX} ${PACKAGE})
  set(system)
  if(SYSTEM)
    set(system -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=${SYSTEM})
  endif()
  run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${BINARY} -DASSAY_CORE=ON -DASSAY_OPTIMISE=${LEVEL}
      -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${C} ${system} --log-level=WARNING)
  run(${CMAKE_COMMAND} --build ${BINARY} -j2)
endif()
string(REPLACE " && " ";" RUN "${RUN}")
foreach(command ${RUN})
  if(command MATCHES "^(qemu-[^ ]+)")
    need(${CMAKE_MATCH_1} qemu-user-static)
  endif()
  separate_arguments(command UNIX_COMMAND "${command}")
  run(${command})
endforeach()
