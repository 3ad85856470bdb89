# The font of pictures, films and the window: DejaVu Sans, put into the program with its licence beside it. Its outlines are
# drawn by stb_truetype. Without either, letters are strokes (host/plot/stroke_font.cpp).
carom_part_option(CAROM_FONT "Letters of pictures in DejaVu Sans, not as strokes")
find_file(CAROM_FONT_FILE DejaVuSans.ttf
  PATHS /usr/share/fonts/truetype/dejavu /usr/share/fonts/dejavu /usr/share/fonts/dejavu-sans-fonts /usr/share/fonts/TTF)
find_file(CAROM_FONT_LICENCE NAMES copyright LICENSE LICENSE.txt NO_DEFAULT_PATH
  PATHS /usr/share/doc/fonts-dejavu-core /usr/share/licenses/dejavu-sans-fonts /usr/share/licenses/ttf-dejavu)
find_path(CAROM_STB stb_truetype.h PATH_SUFFIXES stb)
mark_as_advanced(CAROM_FONT_FILE CAROM_FONT_LICENCE CAROM_STB)
if(NOT CAROM_FONT_FILE OR NOT CAROM_FONT_LICENCE)
  carom_decide(FONT FALSE "DejaVuSans.ttf or its licence is missing (Debian: fonts-dejavu-core); letters are strokes")
elseif(NOT CAROM_STB)
  carom_decide(FONT FALSE "stb_truetype.h is missing (Debian: libstb-dev); letters are strokes")
else()
  carom_decide(FONT TRUE "${CAROM_FONT_FILE}")
endif()

if(CAROM_HAVE_FONT)
  set(carom_font_source "${PROJECT_BINARY_DIR}/generated/carom_font.cpp")
  file(SHA256 "${CAROM_FONT_FILE}" font_sum)
  set(written "")
  if(EXISTS "${carom_font_source}")
    file(READ "${carom_font_source}" written LIMIT 200)
  endif()
  if(NOT written MATCHES "${font_sum}")
    file(READ "${CAROM_FONT_FILE}" bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    file(WRITE "${carom_font_source}"
      "// ${font_sum}: written by cmake/CaromFont.cmake.\n#include \"host/plot/letters.hpp\"\n\nnamespace carom {\n\n"
      "namespace {\nconst unsigned char kFontBytes[] = {\n${bytes}};\n}\n\n"
      "std::span<const unsigned char> embedded_font() { return kFontBytes; }\n\n}  // namespace carom\n")
  endif()
endif()
