/// The engine that decodes, resizes and encodes in a renderer.
package enum EngineChoice: String, Sendable, CaseIterable {
    /// The codecs directly if possible, with this processor's instructions; libvips for the rest.
    case direct
    /// Like `direct`, with only instructions that every processor has.
    case portable
    /// libvips for all formats.
    case libvips
}
