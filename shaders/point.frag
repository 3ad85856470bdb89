in vec4 shade;
out vec4 result;

void main() { result = shade; }
