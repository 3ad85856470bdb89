// A sphere where the ray through this pixel meets it, with that point's depth. HASTY: with that of the square through its
// centre, by which spheres that do not overlap hide each other as they should: what lies behind then costs nothing.
uniform mat4 projection;
uniform bool perspective;
uniform vec2 haze_depth;  // -z of the eye's frame: where haze begins, and where it is deepest
uniform vec3 haze;        // its colour
uniform vec4 clips[6];    // as color.glsl has them
uniform int clip_count;

out vec4 result;

void main() {
    vec3 point = square_point();
    vec3 eye = perspective ? vec3(0.0) : vec3(point.xy, 0.0);
    vec3 ray = perspective ? normalize(point / -point.z) : vec3(0.0, 0.0, -1.0);
    float along = dot(ray, center - eye);
    vec3 miss = (center - eye - along * ray) / radius;  // not |c|^2 - b^2, which cancels far away
    float inside = 1.0 - dot(miss, miss);
    if (inside < 0.0) discard;
    float half_way = radius * sqrt(inside);
    float enters = along - half_way;
#ifdef DRESSED
    // What planes leave of the ray's way through the ball: closed where it comes in through one.
    float leaves = along + half_way;
    vec3 face = vec3(0.0);
    for (int k = 0; k < clip_count; ++k) {
        vec3 cut = mat3(view) * clips[k].xyz;
        float room = clips[k].w + dot(cut, view[3].xyz) - dot(cut, eye);
        float toward = dot(cut, ray);
        if (abs(toward) < 1e-7) {
            if (room < 0.0) discard;
            continue;
        }
        float way = room / toward;
        if (toward > 0.0) {
            leaves = min(leaves, way);
        } else if (way > enters) {
            enters = way;
            face = cut;
        }
    }
    if (!(enters < leaves)) discard;
#endif
    vec3 hit = eye + enters * ray;
    vec3 normal = (hit - center) / radius;
    vec3 paint = color_at(normal);
#ifdef DRESSED
    if (dot(face, face) > 0.0) {
        normal = face;
        paint = 0.8 * color;
    }
#endif
#ifndef HASTY
    vec4 clip_point = projection * vec4(hit, 1.0);
    gl_FragDepth = 0.5 + 0.5 * clip_point.z / clip_point.w;
#endif

    const vec3 light = normalize(vec3(-0.45, 0.65, 0.75));
    const vec3 fill = normalize(vec3(0.7, -0.25, 0.65));  // weaker, from the other side: what the lamp leaves dark has a shape
    float lit = 0.28 + 0.86 * max(dot(normal, light), 0.0) + 0.3 * max(dot(normal, fill), 0.0);
    lit *= 0.6 + 0.4 * clamp(-dot(normal, ray), 0.0, 1.0);
    float mirrored = max(dot(reflect(-light, normal), -ray), 0.0);
    mirrored *= mirrored;
    mirrored *= mirrored;
    float shine = mirrored * mirrored;
    shine *= 0.3 * mirrored * shine * shine;  // the 28th power: much quicker so in software
    float depth = clamp((-hit.z - haze_depth.x) / (haze_depth.y - haze_depth.x), 0.0, 1.0);
    // Light adds up, and what screens show of it goes as its root, nearly.
    result = vec4(mix(paint * sqrt(lit) + shine, haze, 0.32 * depth), 1.0);
}
