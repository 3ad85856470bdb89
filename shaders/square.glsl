// Which point of the ball's square a pixel is, in the eye's frame; shared by the fragment shaders of balls.
flat in vec3 center;
flat in float radius;
flat in vec3 color;

uniform float pixel;  // [length]

#ifdef SPRITE
vec3 square_point() {
    vec2 at = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
    return center + vec3((max(radius, 0.5 * pixel) + 0.5 * pixel) * at, 0.0);
}
#else
in vec3 corner_point;

vec3 square_point() { return corner_point; }
#endif
