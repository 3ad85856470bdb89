// One straight line with a width in pixels, from `a` to `b`: a rectangle of four vertices.
layout(location = 0) in vec3 a;
layout(location = 1) in vec3 b;
layout(location = 2) in vec2 shape;  // x: width [pixels], y: 1 for round ends, 0 for flat ones
layout(location = 3) in vec4 color;

uniform mat4 transform;  // from a and b's frame to the clip space
uniform vec2 viewport;   // [pixels]
uniform float nearest;   // in front of the eye [length]; without perspective anything below 1

out vec2 at;             // [pixels] along and across, from a
flat out float length_px;
flat out vec2 form;
flat out vec4 ink;

void main() {
    vec4 first = transform * vec4(a, 1.0);
    vec4 last = transform * vec4(b, 1.0);
    // A line that passes the eye is cut off just in front of it.
    if (first.w < nearest && last.w < nearest) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    if (first.w < nearest) first = mix(last, first, (last.w - nearest) / (last.w - first.w));
    if (last.w < nearest) last = mix(first, last, (first.w - nearest) / (first.w - last.w));
    vec2 from = 0.5 * first.xy / first.w * viewport;
    vec2 to = 0.5 * last.xy / last.w * viewport;
    length_px = length(to - from);
    vec2 along = length_px > 1e-6 ? (to - from) / length_px : vec2(1.0, 0.0);
    vec2 across = vec2(-along.y, along.x);
    float margin = 0.5 * shape.x + 1.0;
    bool end = (gl_VertexID & 1) != 0;
    float side = (gl_VertexID >> 1) * 2 - 1;
    at = vec2(end ? length_px + margin : -margin, side * margin);
    vec2 place = from + along * at.x + across * at.y;
    float depth = end ? last.z / last.w : first.z / first.w;
    form = shape;
    ink = color;
    gl_Position = vec4(2.0 * place / viewport, depth, 1.0);
}
