// A ball smaller than a pixel: one vertex.
layout(location = 0) in vec4 place;
layout(location = 1) in float value;

uniform mat4 view;
uniform mat4 projection;
uniform float pixel;
uniform bool solid;  // 3D: covers what lies behind

out vec4 shade;

void main() {
    vec3 x = place.xyz;
    bool nowhere = hidden(x, place.w);
    vec4 eye_point = view * vec4(x, 1.0);
    gl_Position = nowhere ? vec4(2.0, 2.0, 2.0, 1.0) : projection * eye_point;
    float r = place.w / pixel;
    shade = vec4(color_of(value), solid ? 1.0 : clamp(3.14159265 * r * r, 0.3, 1.0));
}
