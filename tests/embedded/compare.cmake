# Runs SCENARIO by PROGRAM from its file and by EMBEDDED from the text in it, and compares results.csv, as a test.
cmake_path(GET SCENARIO STEM name)
set(expected "${FOLDER}/${name}")
execute_process(COMMAND "${PROGRAM}" run "${SCENARIO}" --out "${expected}" --quiet --no-mpi COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${EMBEDDED}" "${SCENARIO}" OUTPUT_FILE "${expected}.csv" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${expected}/results.csv" "${expected}.csv" RESULT_VARIABLE differ)
if(differ)
    message(FATAL_ERROR "${expected}/results.csv and ${expected}.csv differ")
endif()
