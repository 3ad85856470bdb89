#define TOML_IMPLEMENTATION
#include "host/scene/toml.hpp"
