flat in vec4 ball;
out vec4 result;

#ifdef GLOW
uniform float strength;
uniform bool ink;  // light is taken away

void main() {
    float from_center = 2.0 * length(gl_PointCoord - 0.5);
    float light = strength * max(exp(-4.0 * from_center * from_center) - 0.02, 0.0);
    result = vec4(light * (ink ? 1.0 - ball.rgb : ball.rgb), light);
}
#else
void main() {
    float half_side = max(ball.w, 0.5) + 0.5;
    result = disk_color(ball.rgb, ball.w, 2.0 * half_side * length(gl_PointCoord - 0.5));
    if (result.a <= 0.0) discard;
}
#endif
