// A flat quadrangle: four corners, without a buffer.
uniform mat4 transform;  // from the corners' frame to the clip space
uniform vec3 corners[4];

void main() { gl_Position = transform * vec4(corners[gl_VertexID], 1.0); }
