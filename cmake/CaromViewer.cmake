# The viewer's needs. Pictures (carom render): glad, which writes the loader of OpenGL and EGL at build time; both
# libraries are opened when the program runs, so it needs neither to start. The window (carom view): GLFW and Dear ImGui.

carom_part_option(CAROM_VIEWER "Pictures and movies through OpenGL")
carom_part_option(CAROM_WINDOW "The interactive window, which needs CAROM_VIEWER too")

find_program(CAROM_GLAD glad)
mark_as_advanced(CAROM_GLAD)
# glad 1 has the same program name, other options, and no loader of EGL that fits. The first word of its help tells.
set(glad_major "")
if(CAROM_GLAD)
  execute_process(COMMAND ${CAROM_GLAD} --help OUTPUT_VARIABLE glad_help ERROR_VARIABLE glad_help_error RESULT_VARIABLE glad_status)
  if(glad_status EQUAL 0 AND glad_help MATCHES "--generator")
    set(glad_major 1)
  elseif(glad_status EQUAL 0 AND glad_help MATCHES "--out-path" AND glad_help MATCHES "{[a-z,]*c[,}]")
    set(glad_major 2)
  endif()
endif()
if(CAROM_GLAD AND glad_major STREQUAL "1")
  carom_decide(VIEWER FALSE "${CAROM_GLAD} is glad 1, and glad 2 is needed (Debian 12 and later: python3-glad; elsewhere: pip install glad2)")
elseif(CAROM_GLAD AND NOT glad_major)
  carom_decide(VIEWER FALSE "${CAROM_GLAD} is not the loader generator glad 2, or does not run (Debian 12 and later: python3-glad; elsewhere: pip install glad2)")
elseif(CAROM_GLAD)
  carom_decide(VIEWER TRUE "OpenGL and EGL by ${CAROM_GLAD}, opened when the program runs")
else()
  carom_decide(VIEWER FALSE "the loader generator glad 2 is missing (Debian 12 and later: python3-glad; elsewhere: pip install glad2)")
endif()

if(CAROM_HAVE_VIEWER)
  set(glad_dir "${PROJECT_BINARY_DIR}/generated/glad")
  set(glad_extensions GL_KHR_debug EGL_EXT_platform_base EGL_EXT_platform_device EGL_EXT_device_base
    EGL_EXT_device_enumeration EGL_EXT_device_query EGL_MESA_platform_surfaceless EGL_KHR_surfaceless_context
    EGL_NV_device_cuda)
  list(JOIN glad_extensions "," glad_extensions)
  add_custom_command(
    OUTPUT "${glad_dir}/src/gl.c" "${glad_dir}/src/egl.c" "${glad_dir}/include/glad/gl.h"
           "${glad_dir}/include/glad/egl.h"
    COMMAND ${CAROM_GLAD} --api gl:core=4.5,egl=1.5 --extensions ${glad_extensions} --out-path "${glad_dir}"
            --reproducible --quiet c --loader > "${PROJECT_BINARY_DIR}/generated/glad.log" 2>&1
    COMMENT "Generating the OpenGL loader"
    VERBATIM)
  add_library(carom_dep_glad STATIC "${glad_dir}/src/gl.c" "${glad_dir}/src/egl.c")
  target_include_directories(carom_dep_glad SYSTEM PUBLIC $<BUILD_INTERFACE:${glad_dir}/include>)
  target_link_libraries(carom_dep_glad PUBLIC ${CMAKE_DL_LIBS})

  set(shader_source "${PROJECT_BINARY_DIR}/generated/carom_shaders.cpp")
  file(GLOB shader_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/shaders/*")
  add_custom_command(
    OUTPUT "${shader_source}"
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}/shaders -DOUTPUT=${shader_source}
            -P "${PROJECT_SOURCE_DIR}/cmake/embed_shaders.cmake"
    DEPENDS ${shader_files} "${PROJECT_SOURCE_DIR}/cmake/embed_shaders.cmake"
    COMMENT "Embedding shaders"
    VERBATIM)
  add_library(carom_shaders OBJECT "${shader_source}")
  target_include_directories(carom_shaders PRIVATE "${PROJECT_SOURCE_DIR}")
endif()

# Debian has GLFW as a shared library alone, which an archive that runs elsewhere must not want.
if(CAROM_STATIC)
  carom_decide(WINDOW FALSE "not in a statically linked program: GLFW comes as a shared library, and carom render is in it")
elseif(NOT CAROM_HAVE_VIEWER)
  carom_decide(WINDOW FALSE "needs CAROM_VIEWER")
else()
  find_package(glfw3 3.3 QUIET)
  find_path(CAROM_IMGUI_INCLUDE imgui.h PATH_SUFFIXES imgui)
  find_library(CAROM_IMGUI_LIBRARY imgui)
  find_library(CAROM_STB_LIBRARY stb)
  mark_as_advanced(CAROM_IMGUI_INCLUDE CAROM_IMGUI_LIBRARY CAROM_STB_LIBRARY)
  if(glfw3_FOUND AND CAROM_IMGUI_INCLUDE AND CAROM_IMGUI_LIBRARY AND CAROM_STB_LIBRARY
     AND EXISTS "${CAROM_IMGUI_INCLUDE}/backends/imgui_impl_glfw.h")
    carom_decide(WINDOW TRUE "GLFW ${glfw3_VERSION}, Dear ImGui in ${CAROM_IMGUI_INCLUDE}")
  else()
    carom_decide(WINDOW FALSE "GLFW or Dear ImGui is missing (Debian: libglfw3-dev libimgui-dev)")
  endif()
endif()
if(CAROM_HAVE_WINDOW)
  add_library(carom_dep_window INTERFACE)
  target_include_directories(carom_dep_window SYSTEM INTERFACE $<BUILD_INTERFACE:${CAROM_IMGUI_INCLUDE}>)
  # The package says for which configuration its library is: Debian for NONE, others for RELEASE or NOCONFIG. Any will do.
  set(glfw_library "")
  get_target_property(glfw_configurations glfw IMPORTED_CONFIGURATIONS)
  foreach(configuration IN LISTS glfw_configurations ITEMS "")
    string(TOUPPER "IMPORTED_LOCATION_${configuration}" property)
    string(REGEX REPLACE "_$" "" property "${property}")
    get_target_property(location glfw ${property})
    if(location AND NOT glfw_library)
      set(glfw_library "${location}")
    endif()
  endforeach()
  if(NOT glfw_library)
    message(FATAL_ERROR "find_package(glfw3) in ${glfw3_DIR} does not say where the library is; "
      "-DCAROM_WINDOW=OFF builds without a window")
  endif()
  target_link_libraries(carom_dep_window INTERFACE ${CAROM_IMGUI_LIBRARY} ${CAROM_STB_LIBRARY} ${glfw_library})
endif()
