// One ball: a square that faces the eye, large enough for the ball's outline. Reads 20 bytes a ball (place, radius,
// value). Large balls are instances of four vertices without a vertex buffer. With SPRITE they are points of the right
// size, a quarter of the work, but for two things: a point vanishes with its centre at the picture's edge, and takes no
// perspective. (Small disks have dot.vert.) DRESSED: with patterns, or cut by a plane; what that takes is paid for by each
// pixel in software, whether there is any or not.
layout(location = 0) in vec4 place;   // xyz: from the origin [length]; w: radius [length]
layout(location = 1) in float value;  // what the colour stands for
#ifdef DRESSED
layout(location = 2) in vec4 turn;  // quaternion, from the ball's own frame to the origin's
#endif

uniform mat4 view;        // rigid: from the origin's frame to the eye's, which looks along -z
uniform mat4 projection;
uniform float pixel;      // [length] across one pixel at the target's depth
uniform bool perspective;

flat out vec3 center;   // eye's frame
flat out float radius;
flat out vec3 color;
#ifndef SPRITE
out vec3 corner_point;  // on the square, eye's frame
#endif
#ifdef DRESSED
flat out vec4 turned;
#endif

// As in square.glsl: to where a disk's smooth edge ends.
float half_side(float r) { return max(r, 0.5 * pixel) + 0.5 * pixel; }

void main() {
    vec3 x = place.xyz;
    bool nowhere = hidden(x, place.w);
    center = (view * vec4(x, 1.0)).xyz;
    radius = place.w;
    color = color_of(value);
    if (nowhere) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
#ifdef SPRITE
    gl_PointSize = 2.0 * half_side(place.w) / pixel;
    gl_Position = projection * vec4(center, 1.0);
#else
#ifdef DRESSED
    turned = turn;
#endif
    vec2 corner = vec2((gl_VertexID & 1) * 2 - 1, (gl_VertexID >> 1) * 2 - 1);
    if (perspective) {
        // Seen from so near a ball's outline is a circle wider than the ball, on the cone that touches it.
        float size = max(max(abs(center.x), abs(center.y)), abs(center.z));  // the squares of lengths may be no floats
        vec3 to = center / size;
        vec3 away = normalize(to);
        vec3 side = normalize(cross(away, vec3(0.0, 1.0, 0.0)));
        vec3 up = cross(side, away);
        float distance2 = dot(to, to);
        float part = radius / size;
        float outline = radius * sqrt(distance2 / max(distance2 - part * part, 1e-6 * distance2));
        corner_point = center + outline * (corner.x * side + corner.y * up);
    } else {
        corner_point = center + vec3(half_side(place.w) * corner, 0.0);
    }
    gl_Position = projection * vec4(corner_point, 1.0);
#endif
}
