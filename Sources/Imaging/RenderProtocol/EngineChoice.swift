/// Who decodes, resizes and encodes in a child.
package enum EngineChoice: String, Sendable, CaseIterable {
    /// The codecs themselves where they can, with what this machine's processor has; libvips for the rest.
    case direct
    /// The same with nothing that not every processor has.
    case portable
    /// libvips for all.
    case libvips
}
