"""Points and point arrays of the program's .vtp and .vtu files (appended, raw, zlib), with Python alone."""
import array
import re
import struct
import zlib

CODES = {"Float64": "d", "Float32": "f"}


def blocks(data, at):
    count, _, _ = struct.unpack_from("<3Q", data, at)
    sizes = struct.unpack_from(f"<{count}Q", data, at + 24)
    at += 24 + 8 * count
    out = b""
    for size in sizes:
        out += zlib.decompress(data[at:at + size])
        at += size
    return out


def float_arrays(path):
    """Name → values of every array of real numbers; the points are called Points."""
    data = path.read_bytes()
    head, _, _ = data.partition(b"<AppendedData")
    begin = data.index(b"_", len(head)) + 1
    found = {}
    for tag in re.findall(r"<(?:DataArray|Array)[^>]*>", head.decode("utf-8", "replace")):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if attributes.get("type") in CODES and "offset" in attributes:
            found[attributes.get("Name", "Points")] = array.array(CODES[attributes["type"]],
                                                                  blocks(data, begin + int(attributes["offset"])))
    return found
