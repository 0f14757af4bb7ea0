internal import CDeflate
internal import CJPEG
internal import CLCMS
internal import CWebP
internal import RenderKit

/// Libraries of the direct path, with their versions at run time if they report them.
package enum DirectVersions {
    package static var all: [(name: String, version: String)] {
        let webp = WebPGetEncoderVersion()
        let lcms = cmsGetEncodedCMMversion()
        return [
            ("libjpeg-turbo", "\(mz_jpeg_version() / 1_000_000).\(mz_jpeg_version() / 1000 % 1000).\(mz_jpeg_version() % 1000)"),
            ("libwebp", "\(webp >> 16).\(webp >> 8 & 255).\(webp & 255)"), ("libdeflate", LIBDEFLATE_VERSION_STRING),
            ("LittleCMS", "\(lcms / 1000).\(lcms % 1000 / 10)"), ("AVX2", Resampler.hasAVX2 ? "used" : "not there"),
        ]
    }
}
