uniform vec3 paint;
out vec4 result;

void main() { result = vec4(paint, 1.0); }
