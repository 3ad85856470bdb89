// A disk with a smooth edge; one smaller than a pixel keeps its area by being fainter. Shared by the fragment shaders of
// disks. All lengths in pixels.
vec4 disk_color(vec3 color, float radius, float from_center) {
    float shown = max(radius, 0.5);
    float area = radius / shown;
    float coverage = clamp(shown - from_center + 0.5, 0.0, 1.0) * area * area;
    // A darker rim, so that touching disks of one colour are told apart. None where it would be all there is.
    float rim = clamp(0.1 * shown, 0.8, 2.5);
    float shade = shown > 3.0 ? mix(1.0, 0.55, smoothstep(-0.5, 0.5, from_center - (shown - rim))) : 1.0;
    return vec4(color * shade, coverage);
}
