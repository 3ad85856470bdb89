// GLOW: light that fades outwards, of a disk or a sphere. Otherwise
// a disk of a few pixels: a point of its size, which vanishes with its centre at the picture's edge. What the fragment
// shader needs is one vector: in software it is between the two shaders that most of the time goes. Reads 20 bytes a ball.
layout(location = 0) in vec4 place;   // xyz: from the origin [length]; w: radius [length]
layout(location = 1) in float value;  // what the colour stands for

uniform mat4 view;
uniform mat4 projection;
uniform float pixel;  // [length]
#ifdef GLOW
uniform float least;         // how far it is seen, at least [pixels]
uniform float radii;         // and in radii
uniform float eye_distance;  // of what is as large as `pixel` says [length]; 0: all is
#endif

flat out vec4 ball;  // colour; w: radius [pixels]

void main() {
    vec3 x = place.xyz;
    bool nowhere = hidden(x, place.w);
    vec4 eye_point = view * vec4(x, 1.0);
    ball = vec4(color_of(value), place.w / pixel);
#ifdef GLOW
    if (eye_distance > 0.0) ball.w *= eye_distance / max(-eye_point.z, 1e-3 * eye_distance);
    gl_PointSize = min(2.0 * max(radii * ball.w, least), 200.0);
#else
    gl_PointSize = 2.0 * (max(ball.w, 0.5) + 0.5);  // to where the smooth edge ends
#endif
    gl_Position = nowhere ? vec4(2.0, 2.0, 2.0, 1.0) : projection * eye_point;
}
