out vec4 result;

void main() {
    vec2 at = (square_point().xy - center.xy) / radius;
    result = disk_color(color_at(vec3(at, sqrt(max(1.0 - dot(at, at), 0.0)))), radius / pixel, length(at) * radius / pixel);
    if (result.a <= 0.0) discard;
}
