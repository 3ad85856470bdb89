// What light does between things, from their depths alone: how much of the sky a point sees, whether the lamp is hidden
// from it, and a dark line where something nearer ends. The picture is multiplied with the result.
uniform sampler2D depths;          // of the picture
uniform sampler2DShadow lamp_map;  // depths as the lamp sees them
uniform vec4 eye_depth;        // z of the eye's frame: (x + y d) / (z + w d) of a depth d
uniform vec4 eye_plane;        // its x and y of a pixel: (zw + xy pixel) times
uniform vec2 eye_spread;       // x + y z
uniform float pixels_at;       // of a length, times 1 / (x + y z) of eye_spread
uniform mat4 to_lamp;    // from the eye's frame to texture and depth of lamp_map
uniform float lamp_texel;  // [length]
uniform vec2 reach;      // how far away things take sky from a point: gaps between balls, the shape of the whole [length]
uniform float radius;    // of the largest ball [length]
uniform int line_width;  // [pixels]
uniform int points;      // that are looked at around each, near and far
uniform vec2 around[14]; // in which directions
uniform int lamp_points; // that are looked for in lamp_map: 4, or 1 where four pixels become one
out vec4 result;

// As sphere.frag has it: light from everywhere, that of the lamp, and that which fills its shade.
const float kAmbient = 0.28;
const float kLamp = 0.86;
const float kFill = 0.3;

// Of lengths of atoms in metres a float has no squares: what is squared is first made as long as 1, nearly.
vec3 near_one(vec3 v) { return v / max(max(abs(v.x), abs(v.y)), max(abs(v.z), 1e-37)); }

vec3 eye_point(ivec2 at, float depth) {
    float z = (eye_depth.x + eye_depth.y * depth) / (eye_depth.z + eye_depth.w * depth);
    return vec3((eye_plane.zw + eye_plane.xy * vec2(at)) * (eye_spread.x + eye_spread.y * z), z);
}

vec3 point_at(ivec2 at) { return eye_point(at, texelFetch(depths, clamp(at, ivec2(0), textureSize(depths, 0) - 1), 0).r); }

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depths, here, 0).r;
    result = vec4(1.0);
    if (depth >= 1.0) return;  // nothing is here
    vec3 p = eye_point(here, depth);

    // On either side the nearer of two differences: the other may lie beyond a ball's edge.
    vec3 right = point_at(here + ivec2(1, 0)) - p;
    vec3 left = p - point_at(here - ivec2(1, 0));
    vec3 above = point_at(here + ivec2(0, 1)) - p;
    vec3 below = p - point_at(here - ivec2(0, 1));
    vec3 normal = normalize(cross(near_one(abs(right.z) < abs(left.z) ? right : left),
                                 near_one(abs(above.z) < abs(below.z) ? above : below)));

    // Points along two spirals, which four pixels that become one turn by quarters.
    float pixels = pixels_at / (eye_spread.x + eye_spread.y * p.z);  // a length
    int quarter = (here.x & 1) + 2 * ((here.x + here.y) & 1);
    vec2 turn = quarter == 0 ? vec2(1.0, 0.0) : quarter == 1 ? vec2(0.0, 1.0) : quarter == 2 ? vec2(-1.0, 0.0) : vec2(0.0, -1.0);
    mat2 turned = mat2(turn.x, turn.y, -turn.y, turn.x);
    float hidden = 0.0;
    for (int k = 0; k < 2 * points; ++k) {
        float far = k < points ? reach.x : reach.y;
        float share = (float(k % points) + 0.25 * float(quarter) + 0.125) / float(points);
        ivec2 to = here + ivec2(round(max(share * far * pixels, 1.5) * (turned * around[k])));
        vec3 v = point_at(to) - p;
        float d = radius * length(v / radius);
        float rise = dot(normal, v) / max(d, 1e-30);
        hidden += max(rise - 0.08, 0.0) * (1.0 - smoothstep(0.6 * far, 1.6 * far, d));
    }
    float sky = clamp(1.0 - 1.25 * hidden / float(points), 0.05, 1.0);

    const vec3 lamp = normalize(vec3(-0.45, 0.65, 0.75));
    float facing = max(dot(normal, lamp), 0.0);
    float shown = 1.0;
    vec3 at_lamp = (to_lamp * vec4(p + lamp_texel * ((1.5 + 2.5 * (1.0 - facing)) * normal + lamp), 1.0)).xyz;
    if (all(greaterThan(at_lamp.xy, vec2(0.0))) && all(lessThan(at_lamp.xy, vec2(1.0)))) {
        vec2 texel = 1.0 / vec2(textureSize(lamp_map, 0));
        shown = 0.0;
        for (int k = 0; k < lamp_points; ++k) {
            vec2 off = 1.3 * turned * (vec2(k & 1, k >> 1) - 0.5);
            shown += texture(lamp_map, vec3(at_lamp.xy + off * texel, at_lamp.z));
        }
        shown /= float(lamp_points);
    }
    shown = mix(0.12, 1.0, shown);  // some of the lamp's light comes around
    const vec3 fill = normalize(vec3(0.7, -0.25, 0.65));
    float filled = kFill * max(dot(normal, fill), 0.0);
    float light = (kAmbient * sky + filled * mix(1.0, sky, 0.9) + kLamp * facing * shown * mix(1.0, sky, 0.5)) /
                  (kAmbient + filled + kLamp * facing);

    float nearer = 0.0;
    for (int k = 0; k < 4; ++k) {
        ivec2 side = line_width * ivec2((k & 1) * 2 - 1, (k >> 1) * 2 - 1);
        nearer = max(nearer, point_at(here + side).z - p.z);
    }
    float edge = smoothstep(0.5 * radius, 1.5 * radius, nearer) * smoothstep(2.0, 6.0, radius * pixels / float(line_width));
    result = vec4(vec3(sqrt(light) * (1.0 - 0.45 * edge)), 1.0);
}
