flat in vec4 ball;
out vec4 result;

void main() {
    float half_side = max(ball.w, 0.5) + 0.5;
    result = disk_color(ball.rgb, ball.w, 2.0 * half_side * length(gl_PointCoord - 0.5));
    if (result.a <= 0.0) discard;
}
