// From a ball's value to its colour, and which balls are not drawn; shared by the vertex shaders.
uniform sampler2D palette;  // a colour map in one row, or the colours of species, row by row
uniform vec2 range;         // values at the two ends of the map
uniform bool categories;    // value is an index into the palette
uniform vec3 unknown;       // colour of a value that is no number
uniform vec4 clip;          // balls with clip.xyz . x > clip.w are left out

vec3 color_of(float v) {
    if (isnan(v)) return unknown;
    ivec2 size = textureSize(palette, 0);
    int count = size.x;
    if (categories) {
        int index = int(v) % (size.x * size.y);
        return texelFetch(palette, ivec2(index % size.x, index / size.x), 0).rgb;
    }
    float t = range.y > range.x ? clamp((v - range.x) / (range.y - range.x), 0.0, 1.0) : 0.5;
    return textureLod(palette, vec2((t * float(count - 1) + 0.5) / float(count), 0.5), 0.0).rgb;
}

bool hidden(vec3 x) { return dot(clip.xyz, x) > clip.w; }
