internal import CVips
internal import Images
internal import RenderProtocol
internal import VariantSpec

extension VipsEngine {
    /// Completes the request by the source's pixels: edges to trim, and the point that draws attention.
    ///
    /// All regions are in the source's upright pixels, so that the rows describe what is shown at any decode scale.
    func resolving(
        _ request: RenderRequest, _ decoded: Raster, shrink: Int
    ) throws(EngineFailure) -> (request: RenderRequest, pixels: Raster) {
        var resolved = request
        let orientation = Orientation(rawValue: request.facts.orientation) ?? .upright
        let size = request.facts.size
        let (held, upright) = try reading { () throws(RasterFailure) in
            let held = try decoded.inMemory()
            return (held, try held.inSRGB().turned(orientation).inMemory())
        }
        var whole = Region(whole: size)
        if request.outputs.contains(where: \.extras.isTrimmed) {
            whole = try reading { () throws(RasterFailure) in try upright.trimmed() }
        }
        for index in request.outputs.indices {
            guard let spec = request.outputs[index].spec, spec.isResolvedByPixels else { continue }
            let shown = spec.extras.isTrimmed ? whole : Region(whole: size)
            let bounds = PixelSize(width: Int(shown.width), height: Int(shown.height))
            var placement = spec.placement(of: bounds)
            if spec.extras.focus == .smart {
                let point = try reading { () throws(RasterFailure) in
                    try upright.attention(in: shown, of: size, for: placement.region)
                }
                placement = spec.placement(of: bounds, around: [point])
            }
            resolved.outputs[index].size = placement.output
            resolved.outputs[index].crop = Region(
                x: shown.x + placement.region.x, y: shown.y + placement.region.y, width: placement.region.width,
                height: placement.region.height)
        }
        return (resolved, held)
    }
}

extension Raster {
    /// The region without edges of the first pixel's colour; the whole picture if nothing would remain.
    fileprivate func trimmed() throws(RasterFailure) -> Region {
        // Compares colour and alpha together, so that opaque white on transparency does not count as an edge. The bands
        // lose their names, since libvips would flatten an alpha band first.
        let compared = hasAlpha ? try premultiplied().map(mz_vips_name_bands) : self
        let (x, y, width, height) = try compared.contentBounds(threshold: 10)
        guard width > 0, height > 0 else { return Region(whole: size) }
        return Region(x: Double(x), y: Double(y), width: Double(width), height: Double(height))
    }

    /// The point of libvips's attention, in thousandths of the shown region.
    fileprivate func attention(
        in shown: Region, of source: PixelSize, for region: Region
    ) throws(RasterFailure) -> KeptRegion {
        let (across, down) = (Double(size.width) / Double(source.width), Double(size.height) / Double(source.height))
        let part = PixelSize(
            width: min(size.width, max(1, Int((shown.width * across).rounded()))),
            height: min(size.height, max(1, Int((shown.height * down).rounded()))))
        let picture = try cropped(
            x: min(Int(shown.x * across), size.width - part.width),
            y: min(Int(shown.y * down), size.height - part.height),
            part)
        let wanted = PixelSize(
            width: min(part.width, max(1, Int(region.width * across))),
            height: min(part.height, max(1, Int(region.height * down))))
        let point = try picture.attention(wanted)
        return KeptRegion(
            x: min(max(0, point.x * 1000 / part.width), 1000), y: min(max(0, point.y * 1000 / part.height), 1000))
    }
}
