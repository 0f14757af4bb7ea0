/// The quality of a variant that names none.
package struct DefaultQualities: Sendable, Hashable {
    package var general: Int
    /// AVIF's scale is another: 63 looks like JPEG's 80.
    package var avif: Int

    package init(general: Int = 80, avif: Int = 63) { (self.general, self.avif) = (general, avif) }

    package func quality(for format: ImageFormat) -> Int { format == .avif || format == .heic ? avif : general }
}

extension VariantSpec {
    /// `auto` with the formats that a whole job accepts, beside its own.
    package func accepting(_ formats: AcceptedFormats) -> VariantSpec {
        guard let own = extras.accepts, !formats.isEmpty else { return self }
        var extras = extras
        extras.accepts = own.union(formats)
        return with(extras)
    }

    /// Whether its format depends on the source's transparency.
    package var isChosenByAlpha: Bool {
        extras.accepts?.isEmpty == true && extras.background == nil && !extras.addsAlpha
    }

    /// The spec that `auto` stands for, once it is known of a source whether it moves and whether it is transparent.
    ///
    /// What moves stays moving: WebP where that is accepted, else GIF. What stands still is the smallest that is
    /// accepted, AVIF before WebP; else PNG where it is transparent, and JPEG.
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
        // A source that stands still is the same picture without the word, and often stored so already.
        if frames == 1 { extras.isStill = false }
        return with(extras, format: format, quality: quality > 0 ? quality : defaults.quality(for: format))
    }
}
