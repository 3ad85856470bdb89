// From a ball's value to its colour, and which balls are not drawn; shared by the vertex shaders.
uniform sampler2D palette;  // a colour map in one row, or the colours of species, row by row
uniform vec2 range;         // values at the two ends of the map
uniform bool categories;    // value is an index into the palette
uniform vec3 unknown;       // colour of a value that is no number
uniform vec4 clips[6];      // what has clips[k].xyz . x > clips[k].w is left out
uniform int clip_count;
uniform vec3 shift;         // to where a copy of all balls is drawn [length]
uniform vec2 around;        // only second pictures are drawn: of balls that hang over a face, this far around [length]

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

// Whether a ball is not drawn; moves its centre to where it is.
bool hidden(inout vec3 x, float radius) {
    if (radius < 0.0) return true;
    for (int axis = 0; axis < 2; ++axis) {
        if (around[axis] <= 0.0) continue;
        if (abs(x[axis]) <= 0.5 * around[axis] - radius) return true;
        x[axis] -= x[axis] > 0.0 ? around[axis] : -around[axis];
    }
    x += shift;
    for (int k = 0; k < clip_count; ++k) {
        if (dot(clips[k].xyz, x) - radius > clips[k].w) return true;
    }
    return false;
}
