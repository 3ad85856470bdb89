in vec2 at;
flat in float length_px;
flat in vec2 form;
flat in vec4 ink;

out vec4 result;

void main() {
    float beyond = max(max(-at.x, at.x - length_px), 0.0);
    float coverage;
    if (form.y > 0.5) {
        coverage = clamp(0.5 * form.x - length(vec2(beyond, at.y)) + 0.5, 0.0, 1.0);
    } else {
        float ends = clamp(min(at.x, length_px - at.x) + 0.5, 0.0, 1.0);
        coverage = clamp(0.5 * form.x - abs(at.y) + 0.5, 0.0, 1.0) * ends;
    }
    result = vec4(ink.rgb, ink.a * coverage);
    if (result.a <= 0.0) discard;
}
