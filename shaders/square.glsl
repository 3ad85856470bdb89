// Which point of the ball's square a pixel is, in the eye's frame; shared by the fragment shaders of balls.
flat in vec3 center;
flat in float radius;
flat in vec3 color;

uniform float pixel;  // [length]
uniform mat4 view;    // from the origin's frame to the eye's

#ifdef SPRITE
vec3 color_at(vec3 normal) { return color; }

vec3 square_point() {
    vec2 at = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
    return center + vec3((max(radius, 0.5 * pixel) + 0.5 * pixel) * at, 0.0);
}
#else
in vec3 corner_point;

vec3 square_point() { return corner_point; }

#ifdef DRESSED
flat in vec4 turned;
uniform bool patterned;

// The ball's colour where its surface has this normal, in the eye's frame: with a pattern a light stripe, on a light ball
// a dark one, and a dark cap to one side of it.
vec3 color_at(vec3 normal) {
    if (!patterned) return color;
    vec3 own = transpose(mat3(view)) * normal;
    own += 2.0 * cross(-turned.xyz, cross(-turned.xyz, own) + turned.w * own);
    float soft = min(0.5, pixel / radius);
    bool pale = dot(color, vec3(0.3, 0.6, 0.1)) > 0.6;
    vec3 stripe = mix(color, pale ? vec3(0.12) : vec3(1.0), 0.6);
    vec3 with_stripe = mix(stripe, color, smoothstep(0.24 - soft, 0.24 + soft, abs(own.y)));
    return mix(with_stripe, 0.45 * color, smoothstep(0.8 - soft, 0.8 + soft, own.y));
}
#else
vec3 color_at(vec3 normal) { return color; }
#endif
#endif
