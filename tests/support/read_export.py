"""Reads an exported file with the reader of the program that it is meant for, and prints one line for each ball:
time id species x y z vx vy vz radius mass, numbers so that they read back to the same value; `-` is what is not there.

usage: read_export.py FILE
"""

import csv
import pathlib
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


READERS = {".vtp": read_vtp, ".pvd": read_pvd, ".xyz": read_xyz, ".csv": read_csv}

if __name__ == "__main__":
    file_path = pathlib.Path(sys.argv[1])
    if file_path.suffix not in READERS:
        sys.exit(f"no reader of {file_path.suffix} files; READERS in {__file__} has those of all formats")
    READERS[file_path.suffix](file_path)
