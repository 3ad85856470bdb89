// A disk with a smooth edge; one smaller than a pixel keeps its area by being fainter.
out vec4 result;

void main() {
    float shown = max(radius / pixel, 0.5);  // [pixels]
    float area = radius / (pixel * shown);
    float from_center = length(square_point().xy - center.xy) / pixel;
    float coverage = clamp(shown - from_center + 0.5, 0.0, 1.0) * area * area;
    if (coverage <= 0.0) discard;
    // A darker rim, so that touching disks of one colour are told apart. None where it would be all there is.
    float rim = clamp(0.1 * shown, 0.8, 2.5);
    float shade = shown > 3.0 ? mix(1.0, 0.55, smoothstep(-0.5, 0.5, from_center - (shown - rim))) : 1.0;
    result = vec4(color * shade, coverage);
}
