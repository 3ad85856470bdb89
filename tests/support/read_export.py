"""Reads an exported file with the reader of the program that it is meant for, and prints one line for each ball:
time id species x y z vx vy vz radius mass, numbers so that they read back to the same value; `-` is what is not there.

usage: read_export.py FILE
"""

import array
import csv
import pathlib
import re
import struct
import sys
import xml.etree.ElementTree


def number(value):
    return value if isinstance(value, str) and value == "-" else repr(float(value))


def show(time, id_, species, position, velocity=("-", "-", "-"), radius="-", mass="-"):
    print(time, id_, species, *map(number, (*position, *velocity, radius, mass)))


def read_vtp(path):
    try:
        import vtk
        from vtk.util.numpy_support import vtk_to_numpy
    except ImportError as error:
        print(error)
        sys.exit(77)
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    assert reader.GetErrorCode() == 0
    assert data.GetNumberOfVerts() == data.GetNumberOfPoints()
    arrays = {data.GetPointData().GetArrayName(i): vtk_to_numpy(data.GetPointData().GetArray(i))
              for i in range(data.GetPointData().GetNumberOfArrays())}
    time = vtk_to_numpy(data.GetFieldData().GetArray("TimeValue"))[0]
    points = vtk_to_numpy(data.GetPoints().GetData()) if data.GetNumberOfPoints() else []
    for i, point in enumerate(points):
        assert data.GetVerts().GetNumberOfConnectivityIds() == len(points)
        show(number(time), arrays["id"][i], arrays["species"][i], point, arrays["velocity"][i], arrays["radius"][i],
             arrays["mass"][i])


def read_pvd(path):
    for entry in xml.etree.ElementTree.parse(path).iter("DataSet"):
        read_vtp(path.parent / entry.get("file"))


def read_xyz(path):
    with open(path, encoding="utf-8") as file:
        while count := file.readline():
            comment = file.readline()
            properties = "Properties=species:S:1:pos:R:3:velo:R:3:angular_velocity:R:3:radius:R:1:mass:R:1:id:I:1"
            assert properties in comment and 'Lattice="' in comment and 'pbc="' in comment, comment
            time = comment.split("Time=")[1].split()[0]
            for _ in range(int(count)):
                words = file.readline().split()
                assert len(words) == 13
                show(number(time), words[12], words[0], words[1:4], words[4:7], words[10], words[11])


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            show(number(row["time"]) if "time" in row else "-", row["id"], row["species"].replace(" ", "_") or "unnamed",
                 (row["x"], row["y"], row.get("z", 0)), (row["vx"], row["vy"], row.get("vz", 0)), row["radius"], row["mass"])


def read_lammpstrj(path):
    with open(path, encoding="utf-8") as file:
        while line := file.readline():
            assert line == "ITEM: TIME\n", line
            time = file.readline().strip()
            assert file.readline() == "ITEM: TIMESTEP\n" and int(file.readline()) >= 0
            assert file.readline() == "ITEM: NUMBER OF ATOMS\n"
            count = int(file.readline())
            assert re.fullmatch(r"ITEM: BOX BOUNDS( (pp|ff)){3}\n", file.readline())
            for _ in range(3):
                low, high = map(float, file.readline().split())
                assert low < high
            columns = file.readline().split()
            assert columns[:2] == ["ITEM:", "ATOMS"], columns
            for _ in range(count):
                ball = dict(zip(columns[2:], file.readline().split(), strict=True))
                assert int(ball["id"]) > 0 and int(ball["type"]) > 0
                show(number(time), int(ball["id"]) - 1, int(ball["type"]) - 1, [ball[k] for k in ("x", "y", "z")],
                     [ball[k] for k in ("vx", "vy", "vz")], ball["radius"], ball["mass"])


# GSD's types, by number, as struct and array have them.
GSD_TYPES = {1: "B", 2: "H", 3: "I", 4: "Q", 5: "b", 6: "h", 7: "i", 8: "q", 9: "f", 10: "d"}


def of_float(value):
    """The shortest number that is that float."""
    for digits in range(1, 10):
        shortest = float(f"{value:.{digits}g}")
        if struct.pack("f", shortest) == struct.pack("f", value):
            return shortest
    return value


def gsd_chunks(path):
    """The chunks of each frame by name, as rows, checked as GSD's own reader checks them."""
    data = path.read_bytes()
    magic, index, entries, namelist, names, schema_version, version, _, schema, _ = struct.unpack_from(
        "<QQQQQII64s64s80s", data)
    assert magic == 0x65DF65DF65DF65DF and version == 2 << 16 and schema_version == 1 << 16 | 4
    assert schema.rstrip(b"\0") == b"hoomd"
    assert index + 32 * entries <= len(data) and namelist + 64 * names <= len(data)
    assert data[namelist + 64 * names - 1] == 0
    known = [name.decode() for name in data[namelist:namelist + 64 * names].split(b"\0\0")[0].split(b"\0")]
    frames = []
    before = (-1, -1)
    for k in range(entries):
        frame, rows, location, columns, name, kind, flags = struct.unpack_from("<QQqIHBB", data, index + 32 * k)
        if location == 0:
            break
        assert before < (frame, name) and frame < entries and name < len(known) and flags == 0
        before = (frame, name)
        values = array.array(GSD_TYPES[kind])
        end = location + rows * columns * values.itemsize
        assert end <= len(data)
        values.frombytes(data[location:end])
        while len(frames) <= frame:
            frames.append({})
        frames[frame][known[name]] = [values[columns * row:columns * (row + 1)] for row in range(rows)]
    return frames


def check_by_hoomd(path, frames):
    """What GSD's own module finds, where there is one."""
    try:
        import gsd.hoomd
    except ImportError:
        return
    with gsd.hoomd.open(str(path), "rb") as file:
        assert len(file) == len(frames)
        for snapshot, chunks in zip(file, frames):
            snapshot.validate()
            assert snapshot.configuration.step == chunks["configuration/step"][0][0]
            for name in ("position", "velocity", "image", "angmom"):
                told = [list(row) for row in chunks.get(f"particles/{name}", [])]
                if told:
                    assert getattr(snapshot.particles, name).tolist() == told, name
            assert snapshot.log["time"][0] == chunks["log/time"][0][0]


def read_gsd(path):
    frames = gsd_chunks(path)
    check_by_hoomd(path, frames)
    for chunks in frames:
        def get(name):
            return chunks.get(name, frames[0].get(name, []) if count == len(frames[0].get("particles/typeid", [])) else [])
        count = chunks.get("particles/N", frames[0]["particles/N"])[0][0] if frames else 0
        edges = [edge for row in frames[0]["configuration/box"] for edge in row]
        assert len(frames[0]["configuration/box"]) == 6
        places, exact = get("particles/position"), get("log/particles/position")
        # Of a run in single precision those of HOOMD's schema are the run's own.
        velocities = get("log/particles/velocity") or [list(map(of_float, row)) for row in get("particles/velocity")]
        for k in range(count):
            for axis in range(3):
                assert abs(places[k][axis]) <= 0.5 * edges[axis]
            middle = [exact[k][axis] - places[k][axis] for axis in range(3)]
            first = [exact[0][axis] - places[0][axis] for axis in range(3)]
            assert max(abs(a - b) for a, b in zip(middle, first)) < 1e-5 * max(edges), "they differ by the box's middle"
            show(number(chunks["log/time"][0][0]), get("log/particles/id")[k][0], get("particles/typeid")[k][0], exact[k],
                 velocities[k], of_float(get("particles/diameter")[k][0]) / 2, of_float(get("particles/mass")[k][0]))


READERS = {".vtp": read_vtp, ".pvd": read_pvd, ".xyz": read_xyz, ".csv": read_csv,
           ".gsd": read_gsd, ".lammpstrj": read_lammpstrj}

if __name__ == "__main__":
    file_path = pathlib.Path(sys.argv[1])
    if file_path.suffix not in READERS:
        sys.exit(f"no reader of {file_path.suffix} files; READERS in {__file__} has those of all formats")
    READERS[file_path.suffix](file_path)
