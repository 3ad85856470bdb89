// A disk of a few pixels: a point of its size, which vanishes with its centre at the picture's edge. What the fragment
// shader needs is one vector: in software it is between the two shaders that most of the time goes. Reads 20 bytes a ball.
layout(location = 0) in vec4 place;   // xyz: from the origin [length]; w: radius [length]
layout(location = 1) in float value;  // what the colour stands for

uniform mat4 view;
uniform mat4 projection;
uniform float pixel;  // [length]

flat out vec4 ball;  // colour; w: radius [pixels]

void main() {
    vec3 x = place.xyz;
    bool nowhere = hidden(x, place.w);
    ball = vec4(color_of(value), place.w / pixel);
    gl_PointSize = 2.0 * (max(ball.w, 0.5) + 0.5);  // to where the smooth edge ends
    gl_Position = nowhere ? vec4(2.0, 2.0, 2.0, 1.0) : projection * (view * vec4(x, 1.0));
}
