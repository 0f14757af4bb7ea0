import Canonical
import Failures
import Foundation
import Testing
import VariantSpec

/// The contract with producers in other languages: expectations written by hand, keys made by another SHA-256.
@Suite("Canonical form: the vectors that producers in other languages test themselves with", .timeLimit(.minutes(1)))
struct CanonicalVectorTests {
    struct Vector: Decodable, Sendable {
        let input: String
        let canonical: String?
        let sourceKey: String?
        let spec: String?
        let error: String?
        /// Groups of origins that are asked with headers of their own.
        let origins: [Group]?

        struct Group: Decodable, Sendable {
            let name: String
            let hosts: [String]
        }
    }

    static let vectors: [Vector] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "canonical-vectors.json")
        guard let data = try? Data(contentsOf: file) else { return [] }
        return (try? JSONDecoder().decode([Vector].self, from: data)) ?? []
    }()

    struct SpecVector: Decodable, Sendable {
        let spec: String
        let canonical: String?
        let error: String?
    }

    static let specVectors: [SpecVector] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "spec-vectors.json")
        guard let data = try? Data(contentsOf: file) else { return [] }
        return (try? JSONDecoder().decode([SpecVector].self, from: data)) ?? []
    }()

    @Test("Every spec of the vectors gives its one spelling, which gives itself, or its error")
    func specs() throws {
        #expect(Self.specVectors.count >= 50)
        for vector in Self.specVectors {
            let name = Comment(rawValue: vector.spec)
            do throws(SpecFailure) {
                let spec = try VariantSpec(vector.spec)
                #expect(spec.description == vector.canonical, name)
                #expect(try VariantSpec(spec.description) == spec, name)
                var text = spec.description
                #expect(text.withUTF8 { VariantSpec(written: $0) } == spec, name)
            } catch {
                #expect(error.code == vector.error, name)
            }
        }
    }

    @Test("The file is whole: at least 150 vectors, each input once")
    func whole() {
        #expect(Self.vectors.count >= 150)
        #expect(Set(Self.vectors.map { Array($0.input.utf8) }).count == Self.vectors.count)
    }

    @Test("Every vector gives its canonical URL, key and spec, or its error")
    func vectors() throws {
        for vector in Self.vectors {
            let groups = try (vector.origins ?? []).map {
                try OriginGroup(name: $0.name, hosts: $0.hosts, hasHeaders: true)
            }
            let rules = CanonicalRules(originGroups: groups)
            let name = Comment(rawValue: vector.input)
            do throws(CanonicalFailure) {
                let source = try rules.source(of: vector.input)
                #expect(source.url == vector.canonical, name)
                #expect(source.key.hex == vector.sourceKey, name)
                #expect(source.variant?.description == vector.spec, name)
            } catch {
                #expect(error.code == vector.error, name)
            }
        }
    }
}
