/// Quality of variants whose spec names none.
package struct DefaultQualities: Sendable, Hashable {
    package var general: Int
    /// AVIF has another scale: its 63 looks like JPEG's 80.
    package var avif: Int

    package init(general: Int = 80, avif: Int = 63) { (self.general, self.avif) = (general, avif) }

    package func quality(for format: ImageFormat) -> Int { format == .avif || format == .heic ? avif : general }
}

extension VariantSpec {
    /// An `auto` spec that also accepts the formats that the whole job accepts.
    package func accepting(_ formats: AcceptedFormats) -> VariantSpec {
        guard let own = extras.accepts, !formats.isEmpty else { return self }
        var extras = extras
        extras.accepts = own.union(formats)
        return with(extras)
    }

    /// Whether the format depends on the source's transparency.
    package var isChosenByAlpha: Bool {
        extras.accepts?.isEmpty == true && extras.background == nil && !extras.addsAlpha
    }

    /// The spec that `auto` stands for, once the source's frames and transparency are known.
    ///
    /// An animated source stays animated: WebP if accepted, else GIF. A still source becomes AVIF if accepted, else
    /// WebP if accepted. If neither is accepted, a transparent source becomes PNG and any other JPEG.
    package func chosen(frames: Int, hasAlpha: Bool, defaults: DefaultQualities) -> VariantSpec {
        guard let accepts = extras.accepts else { return self }
        let format: ImageFormat
        if frames > 1, !extras.isStill {
            format = accepts.contains(.webp) ? .webp : .gif
        } else if accepts.contains(.avif) {
            format = .avif
        } else if accepts.contains(.webp) {
            format = .webp
        } else {
            format = extras.addsAlpha || hasAlpha && extras.background == nil ? .png : .jpeg
        }
        var extras = extras
        extras.accepts = nil
        // On a still source, `still` changes nothing. The variant without it is often stored already.
        if frames == 1 { extras.isStill = false }
        return with(extras, format: format, quality: quality > 0 ? quality : defaults.quality(for: format))
    }
}
