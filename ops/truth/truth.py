"""An independent reference for images: Pillow with LittleCMS.

truth.py references SIZE OUT FILE...   writes FILE as OUT/<name>.png, at most SIZE pixels wide and high (0: as it is)
truth.py compare DIR RENDERED          compares what `mezzotint-bench truth` rendered of DIR with Pillow, and with sharp
                                       if node finds it, and prints sizes and differences by class, and the files
                                       that the product calls damaged and Pillow decodes

A file is decoded in full, converted to sRGB (relative colorimetric, black point compensation; a PNG's gAMA without a
profile, as in Chromium), turned upright and resized once by Lanczos.
"""
import collections
import io
import json
import os
import pathlib
import subprocess
import sys
import warnings

from PIL import Image, ImageChops, ImageCms, ImageOps, ImageStat

# Pillow refuses twice as many: what it decodes lies whole in memory, three times over.
Image.MAX_IMAGE_PIXELS = 60_000_000
warnings.simplefilter("ignore", Image.DecompressionBombWarning)
SRGB = ImageCms.createProfile("sRGB")
SIDE = 400
# Mean absolute difference, in levels, of blocks of 8 x 8 pixels: what an eye may notice, and what no eye misses.
NOTICED, WRONG = 2.5, 10
# What only a reference decoder's refusal justifies: the sentences of `malformed` and `truncated`.
BLAME = "Replace it at its origin", "Upload it again to its origin"


def srgb(image):
    """The image in sRGB, with alpha if it had any."""
    alpha = None
    gamma = None if "srgb" in image.info or "icc_profile" in image.info else image.info.get("gamma")
    if image.mode in ("P", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        image = image.point(lambda level: level / 257).convert("L")
    if image.mode in ("RGBA", "LA"):
        alpha = image.getchannel("A")
        image = image.convert(image.mode[:-1] if image.mode == "LA" else "RGB")
    profile = image.info.get("icc_profile")
    if profile:
        try:
            image = ImageCms.profileToProfile(
                image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), SRGB,
                renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode="RGB",
                flags=ImageCms.Flags.BLACKPOINTCOMPENSATION)
        except (ImageCms.PyCMSError, OSError):
            pass  # A profile that does not fit the pixels means sRGB.
    image = image.convert("RGB")
    if gamma and abs(gamma - 1 / 2.2) > 0.05 / 2.2:
        image = image.point([coded((level / 255) ** (1 / gamma)) for level in range(256)] * 3)
    if alpha:
        image.putalpha(alpha)
    return image


def coded(light):
    """A level of sRGB."""
    return round(255 * (12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055))


def reference(path, side):
    """A file at most `side` pixels wide and high, rounded as the product rounds; 0: at its own size."""
    with Image.open(path) as opened:
        orientation = opened.getexif().get(0x0112, 1)
        image = srgb(opened)
    image.getexif()[0x0112] = orientation
    image = ImageOps.exif_transpose(image)
    width, height = image.size
    scale = min(1, side / max(width, height)) if side else 1
    if scale < 1:
        size = max(1, int(width * scale + 0.5)), max(1, int(height * scale + 0.5))
        if image.mode == "RGBA":  # Weighted by alpha, so that transparent colours do not bleed.
            image = image.convert("RGBa").resize(size, Image.Resampling.LANCZOS).convert("RGBA")
        else:
            image = image.resize(size, Image.Resampling.LANCZOS)
    return image


def references(side, out, files):
    for path in files:
        image = reference(path, side)
        image.save(os.path.join(out, os.path.basename(path) + ".png"), compress_level=1)


def blocks(image):
    """On white, in blocks of 8 x 8 pixels."""
    flat = Image.new("RGB", image.size, "white")
    flat.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
    return flat.resize([max(1, side // 8) for side in image.size], Image.Resampling.BOX)


def difference(one, other):
    """Mean absolute difference in levels; None if the sizes differ."""
    if one is None or other is None or one.size != other.size:
        return None
    return sum(ImageStat.Stat(ImageChops.difference(blocks(one), blocks(other))).mean) / 3


def opened(path):
    try:
        with Image.open(path) as image:
            return srgb(image)
    except (OSError, Image.DecompressionBombError):
        return None


def is_whole(path):
    """Whether Pillow finds no damage and decodes all pixels of the first frame; None if the image is too large for it."""
    try:
        with Image.open(path) as image:
            image.verify()
        with Image.open(path) as image:
            image.load()
        return True
    except Image.DecompressionBombError:
        return None
    except Exception:  # Hostile files end Pillow in any way.
        return False


def by_sharp(pairs):
    """Renders by sharp what it reads, to the file beside it; without node and sharp nothing."""
    code = """
        const sharp=require('sharp');sharp.concurrency(1);
        (async()=>{for(const [f,to] of JSON.parse(require('fs').readFileSync(0,'utf8'))) try{
          await sharp(f).rotate().resize(%d,%d,{fit:'inside',withoutEnlargement:true}).toColourspace('srgb')
            .png().toFile(to)}catch(e){}})()""" % (SIDE, SIDE)
    shared = os.environ.get("MEZZOTINT_SHARED", "../shared")
    modules = os.path.abspath(os.path.join(shared, "peers/node/node_modules"))
    try:
        ran = subprocess.run(
            ["node", "-e", code], input=json.dumps(pairs), text=True, capture_output=True,
            env={**os.environ, "NODE_PATH": modules})
    except OSError:
        return False
    return ran.returncode == 0


def compare(folder, rendered):
    """Prints a line for each file that differs, and a table by class."""
    rows = [json.loads(line) for line in (pathlib.Path(rendered) / "results.jsonl").read_text().splitlines()]
    files = [os.path.join(folder, row["file"]) for row in rows]
    by_peer = [os.path.join(rendered, row["file"] + ".sharp.png") for row in rows]
    for path in by_peer:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    if not by_sharp(list(zip(files, by_peer))):
        print("truth.py: NOT COMPARED with sharp: node, or ../shared/peers/node, is not here.", file=sys.stderr)
    classes = collections.defaultdict(collections.Counter)
    called_damaged, not_damaged, unknown = 0, collections.defaultdict(list), []
    sums, peer_sums = collections.defaultdict(float), collections.defaultdict(float)
    for row, path, peer_path in zip(rows, files, by_peer):
        name = row["file"]
        try:
            truth = reference(path, SIDE)
            with Image.open(path) as image:
                kind = f"{row.get('format') or image.format.lower()} {image.mode}"
                kind += " profile" if image.info.get("icc_profile") else ""
        except Exception as error:  # Hostile files end Pillow in any way.
            truth, kind = None, f"{row.get('format') or 'unknown'} (Pillow refuses)"
        ours = opened(os.path.join(rendered, name + ".png")) if "refusal" not in row else None
        peer = opened(peer_path)
        own = classes[kind]
        own["files"] += 1
        own["M"] += ours is not None
        own["P"] += truth is not None
        own["S"] += peer is not None
        if "refusal" in row and any(words in row["refusal"] for words in BLAME):
            called_damaged += 1
            whole = is_whole(path)
            if whole:
                not_damaged[kind].append(f"{name}: {row['refusal']}")
            elif whole is None:
                unknown.append(name)
        if ours is None:
            if truth is not None or peer is not None:
                print(f"REFUSED {name}: {row['refusal']}")
            continue
        own["other size"] += truth is not None and ours.size != truth.size
        apart = difference(ours, truth)
        beside = difference(ours, peer)
        if apart is not None:
            own["compared"] += 1
            sums[kind] += apart
            own[f"> {NOTICED}"] += apart > NOTICED
            own[f"> {WRONG}"] += apart > WRONG
        if beside is not None:
            own["beside"] += 1
            peer_sums[kind] += beside
            own[f"> {NOTICED} from S"] += beside > NOTICED
        has_size = truth is None or ours.size == truth.size
        if ((beside if truth is None else apart) or 0) > NOTICED or not has_size:
            of_peer = "" if beside is None else f", {beside:.1f} from sharp"
            sizes = "" if has_size else f", {ours.size} where Pillow has {truth.size}"
            print(f"DIFFERS {name} ({kind}): {'-' if apart is None else f'{apart:.1f}'} from Pillow{of_peer}{sizes}")
    heads = ["files", "M", "S", "P", "compared", "other size", f"> {NOTICED}", f"> {WRONG}", f"> {NOTICED} from S"]
    print("\n| class | " + " | ".join(heads) + " | mean | mean from S |\n|---|" + "---|" * (len(heads) + 2))
    for kind in sorted(classes):
        own = classes[kind]
        mean = f"{sums[kind] / own['compared']:.2f}" if own["compared"] else "-"
        of_peer = f"{peer_sums[kind] / own['beside']:.2f}" if own["beside"] else "-"
        print(f"| {kind} | " + " | ".join(str(own[head]) for head in heads) + f" | {mean} | {of_peer} |")
    count = sum(map(len, not_damaged.values()))
    print(f"\nCalled damaged: {called_damaged}. Of these Pillow decodes {count}; {len(unknown)} are too large for it.")
    for kind in sorted(not_damaged):
        for line in not_damaged[kind]:
            print(f"NOT DAMAGED ({kind}) {line}")
    for name in unknown:
        print(f"NOT CHECKED {name}")


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["references"] and len(words) > 3:
        references(int(words[1]), words[2], words[3:])
    elif words[:1] == ["compare"] and len(words) == 3:
        compare(words[1], words[2])
    else:
        sys.exit(__doc__)
