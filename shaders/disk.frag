out vec4 result;

void main() {
    result = disk_color(color, radius / pixel, length(square_point().xy - center.xy) / pixel);
    if (result.a <= 0.0) discard;
}
