// swift-tools-version: 6.2
import PackageDescription

/// A system module for one C library of Debian 12: a module map and a shim under `Sources/C`.
func library(_ name: String, _ pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
}

/// A room of the product; `needs` are the only rooms it may see.
func room(_ name: String, needs: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: needs)
}

/// A program: the only place that puts adapters and the runtime together.
func program(_ name: String, in folder: String, needs: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: needs, path: "workers/\(folder)")
}

/// `data`: files that the tests read where they lie.
func tests(_ name: String, needs: [Target.Dependency], data: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: needs + ["TestSupport"], path: "Tests/\(name)Tests", exclude: data)
}

let package = Package(
    name: "mezzotint",
    targets: [
        library("CPosix"),
        library("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
        library("CCurl", "libcurl", apt: "libcurl4-openssl-dev"),
        library("CCrypto", "libcrypto", apt: "libssl-dev"),
        library("CRdkafka", "rdkafka", apt: "librdkafka-dev"),
        library("CIDN2", "libidn2", apt: "libidn2-dev"),
        library("CYAML", "yaml-0.1", apt: "libyaml-dev"),
        // Of GLib, whose headers lie apart: vips's own flags would add -pthread, of which SwiftPM warns in every build.
        library("CVips", "gobject-2.0", apt: "libvips-dev"),
        library("CJPEG", "libjpeg", apt: "libjpeg-dev"),
        library("CWebP", "libwebp", apt: "libwebp-dev"),
        library("CDeflate", "libdeflate", apt: "libdeflate-dev"),
        library("CLCMS", "lcms2", apt: "liblcms2-dev"),
        // Ours, in C for its intrinsics; optimised in debug builds too, where pictures are tested.
        .target(name: "CPixels", path: "Sources/C/CPixels", cSettings: [.unsafeFlags(["-O3"])]),
        // Ours, in C since it stands before glibc's own: linked into the renderer alone.
        .target(name: "CAllocations", path: "Sources/C/CAllocations"),
        library("CSeccomp", "libseccomp", apt: "libseccomp-dev"),
        library("CMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev"),

        // Thin Swift over a library: each the only importer of its C module.
        room("Posix", needs: ["CPosix"]),
        room("SQLite", needs: ["CSQLite"]),
        room("HTTP", needs: ["CCurl", "Posix"]),
        room("Digest", needs: ["CCrypto"]),
        room("DomainNames", needs: ["CIDN2"]),
        room("Seccomp", needs: ["CSeccomp", "Posix"]),
        room("WebServer", needs: ["CMicroHTTPD", "JSONText", "Posix"]),

        // The rules: values and reducers that never await.
        room("JSONText"),
        room("Failures"),
        room("HTTPCache"),
        room("Access", needs: ["DomainNames", "Posix"]),
        room("VariantSpec", needs: ["Failures", "JSONText"]),
        room("Canonical", needs: ["Failures", "VariantSpec", "Digest", "DomainNames"]),
        room("ImageModel", needs: ["VariantSpec", "Canonical", "Digest", "HTTPCache"]),
        room(
            "Records", needs: ["Digest", "Failures", "VariantSpec", "Canonical", "HTTPCache", "ImageModel", "JSONText"]),
        room("Planning", needs: ["Digest", "VariantSpec", "Canonical", "ImageModel"]),
        room(
            "Partition",
            needs: ["Failures", "VariantSpec", "Canonical", "HTTPCache", "ImageModel", "Records", "Planning", "Ports"]),

        // What the runtime needs of the world, and what fills it.
        room(
            "Ports",
            needs: ["Digest", "Failures", "VariantSpec", "Canonical", "HTTPCache", "ImageModel", "Records", "Posix"]),
        room("EmbeddedLog", needs: ["Records", "Ports", "SQLite", "Posix"]),
        room("KafkaSetup"),
        room("KafkaLog", needs: ["Records", "Ports", "KafkaSetup", "CRdkafka", "Posix"]),
        room(
            "Index",
            needs: [
                "Ports", "VariantSpec", "Canonical", "HTTPCache", "ImageModel", "Records", "SQLite", "Digest", "Posix",
            ]),
        room("Origin", needs: ["Access", "Canonical", "HTTPCache", "Ports", "HTTP", "Digest", "Posix"]),
        room("RenderProtocol", needs: ["VariantSpec", "Ports"]),
        // Reads pictures' headers, in the inspector's process alone: no room of the worker's may see it.
        room("PictureHeaders", needs: ["VariantSpec", "Ports", "Posix", "RenderProtocol"]),
        room("RendererPool", needs: ["VariantSpec", "ImageModel", "Ports", "Posix", "RenderProtocol"]),
        room("RenderKit", needs: ["VariantSpec", "Ports", "Posix", "CPixels", "RenderProtocol"]),
        room("Vips", needs: ["VariantSpec", "Ports", "CVips", "RenderKit", "RenderProtocol"]),
        room(
            "DirectPath",
            needs: [
                "VariantSpec", "Ports", "CJPEG", "CWebP", "CDeflate", "CLCMS", "RenderKit", "RenderProtocol",
            ]),
        room("Store", needs: ["Ports", "Canonical", "Records", "Digest", "Posix"]),

        room("Telemetry", needs: ["JSONText"]),
        room("CommandLine", needs: ["JSONText"]),
        room(
            "Settings",
            needs: [
                "Access", "VariantSpec", "Canonical", "Digest", "ImageModel", "CommandLine", "KafkaSetup", "Posix",
                "CYAML",
            ]),
        room(
            "WorkerRuntime",
            needs: [
                "Digest", "Failures", "VariantSpec", "Canonical", "ImageModel", "Records", "JSONText", "Planning",
                "Partition", "Ports", "Posix", "Telemetry",
            ]),

        // What is seen from outside, folded: state, sentence, page, JSON and metrics. Pure.
        room(
            "Watch",
            needs: [
                "Canonical", "Failures", "HTTPCache", "ImageModel", "JSONText", "Ports", "Posix", "Records",
                "Telemetry",
                "VariantSpec",
            ]),

        .target(
            name: "LogChoice",
            dependencies: ["Ports", "EmbeddedLog", "KafkaLog", "Posix", "Records", "Settings", "KafkaSetup"],
            path: "workers/log"),
        program(
            "mezzotint-worker", in: "worker",
            needs: [
                "Access", "Failures", "Canonical", "HTTPCache", "ImageModel", "Records", "Planning", "Partition",
                "Ports",
                "WorkerRuntime", "LogChoice", "Index", "Origin", "Store", "HTTP", "Telemetry", "CommandLine",
                "Settings", "Posix",
                "WebServer", "RenderProtocol", "RendererPool",
            ]),
        program(
            "mezzotint-renderer", in: "renderer",
            needs: [
                "VariantSpec", "Vips", "DirectPath", "Seccomp", "CAllocations", "CommandLine", "Posix", "RenderKit",
                "RenderProtocol",
            ]),
        program(
            "mezzotint-inspector", in: "inspector",
            needs: ["PictureHeaders", "Seccomp", "CommandLine", "Posix", "RenderProtocol"]),
        program(
            "mezzotint", in: "mezzotint",
            needs: [
                "Failures", "VariantSpec", "Canonical", "HTTP", "ImageModel", "Records", "Digest", "JSONText",
                "KafkaLog",
                "KafkaSetup", "LogChoice", "Ports", "CommandLine", "Settings", "Posix", "Telemetry", "Watch",
                "WebServer",
                "RenderProtocol",
            ]),
        program(
            "mezzotint-lagwatch", in: "lagwatch",
            needs: [
                "Access", "Canonical", "CommandLine", "Failures", "HTTP", "ImageModel", "KafkaSetup", "LogChoice",
                "Ports",
                "Posix", "Records", "Settings", "Telemetry", "VariantSpec", "Watch", "WebServer",
            ]),
        program(
            "mezzotint-bench", in: "bench",
            needs: [
                "Digest", "VariantSpec", "Canonical", "ImageModel", "Records", "LogChoice", "Ports", "WebServer",
                "CommandLine", "Settings", "Posix", "CVips", "RenderProtocol", "RendererPool", "Vips",
                "TestPixels", "TestSupport",
            ]),
        program(
            "mezzotint-demo", in: "demo",
            needs: [
                "VariantSpec", "Canonical", "ImageModel", "Records", "KafkaLog", "KafkaSetup", "LogChoice", "Ports",
                "Settings", "WebServer", "CommandLine", "JSONText", "Posix", "RenderProtocol", "RendererPool",
                "TestPixels",
            ]),

        program(
            "mezzotint-campaign", in: "campaign",
            needs: [
                "VariantSpec", "Canonical", "ImageModel", "Records", "EmbeddedLog", "Ports", "WebServer", "CommandLine",
                "Posix", "RenderProtocol", "TestPixels", "TestSupport",
            ]),

        // Three workers of the product in a world of one seed, and the program that runs seeds; neither is installed.
        .target(
            name: "Simulation",
            dependencies: [
                "Canonical", "Digest", "Failures", "HTTPCache", "ImageModel", "Partition", "Planning", "Ports",
                "Posix", "Records", "Telemetry", "VariantSpec", "WorkerRuntime",
            ],
            path: "Tests/Simulation"),
        // Runs millions of short steps through Swift's runtime: called without a detour, that costs an eighth less. No tests
        // need it as a part of their bundle, which would be linked so, too.
        .executableTarget(
            name: "mezzotint-sim", dependencies: ["CommandLine", "Posix", "Simulation"], path: "workers/sim",
            linkerSettings: [.unsafeFlags(["-static-stdlib"])]),

        .target(name: "TestPixels", dependencies: ["PictureHeaders"], path: "Tests/TestPixels"),
        .target(
            name: "TestSupport",
            dependencies: ["Digest", "HTTP", "VariantSpec", "Canonical", "Records", "Ports", "Posix", "WebServer"],
            path: "Tests/TestSupport"),
        .target(
            name: "TestWorkplace",
            dependencies: [
                "Digest", "EmbeddedLog", "ImageModel", "Records", "KafkaLog", "KafkaSetup", "Ports", "TestPixels",
                "TestSupport",
            ],
            path: "Tests/TestWorkplace"),
        .target(name: "CacheSuite", dependencies: ["TestSupport"], path: "Tests/CacheSuite"),
        tests("Access", needs: ["Access", "Posix"]),
        tests(
            "Command",
            needs: [
                "EmbeddedLog", "Failures", "VariantSpec", "Canonical", "ImageModel", "JSONText", "Records", "Digest",
                "Ports", "TestPixels", "mezzotint", "mezzotint-bench", "mezzotint-demo", "mezzotint-inspector",
                "mezzotint-lagwatch", "mezzotint-renderer",
                "mezzotint-worker",
            ]),
        tests(
            "Cluster",
            needs: [
                "Canonical", "ImageModel", "Records", "KafkaLog", "KafkaSetup", "Ports", "TestPixels", "TestWorkplace",
                "mezzotint", "mezzotint-bench", "mezzotint-demo", "mezzotint-inspector", "mezzotint-lagwatch",
                "mezzotint-renderer", "mezzotint-worker",
            ]),
        tests("CommandLine", needs: ["CommandLine"]),
        tests("DirectPath", needs: ["VariantSpec", "DirectPath", "Ports", "RenderKit", "RenderProtocol"]),
        tests(
            "EmbeddedLog",
            needs: [
                "Failures", "VariantSpec", "Canonical", "ImageModel", "Records", "Digest", "EmbeddedLog", "Ports",
                "SQLite",
            ]),
        tests(
            "Fault",
            needs: [
                "EmbeddedLog", "Failures", "VariantSpec", "Canonical", "ImageModel", "KafkaSetup", "Records", "Ports",
                "Posix", "SQLite", "TestPixels", "TestWorkplace", "mezzotint", "mezzotint-campaign",
                "mezzotint-inspector", "mezzotint-renderer", "mezzotint-worker",
            ],
            data: ["Fixtures"]),
        tests("HTTP", needs: ["HTTP"], data: ["hostile.py", "hostile.pem"]),
        tests("HTTPCache", needs: ["CacheSuite", "HTTPCache"]),
        tests("Canonical", needs: ["Failures", "VariantSpec", "Canonical"]),
        tests("VariantSpec", needs: ["Failures", "VariantSpec", "Canonical"]),
        tests(
            "Records",
            needs: ["Failures", "VariantSpec", "Canonical", "HTTPCache", "ImageModel", "Records", "Digest"]),
        tests(
            "ImageModel", needs: ["Failures", "VariantSpec", "Canonical"],
            data: ["canonical-vectors.json", "spec-vectors.json"]),
        tests("JSONText", needs: ["JSONText"]),
        tests(
            "Index",
            needs: [
                "Digest", "VariantSpec", "Canonical", "Failures", "HTTPCache", "ImageModel", "Records", "Index",
                "Ports",
                "SQLite",
            ]),
        tests("KafkaLog", needs: ["Failures", "Records", "KafkaLog", "KafkaSetup", "Ports", "Posix"]),
        tests(
            "LogContract",
            needs: ["Failures", "ImageModel", "Records", "EmbeddedLog", "KafkaLog", "KafkaSetup", "Ports"]),
        tests(
            "Metrics",
            needs: [
                "Canonical", "HTTP", "ImageModel", "Records", "Ports", "Posix", "Telemetry", "TestPixels",
                "TestWorkplace", "WebServer", "mezzotint", "mezzotint-inspector", "mezzotint-lagwatch",
                "mezzotint-renderer", "mezzotint-worker",
            ]),
        tests(
            "Origin",
            needs: [
                "Access", "Canonical", "HTTPCache", "Origin", "Ports", "Failures", "ImageModel", "HTTP", "Digest",
                "Posix",
            ],
            data: ["private-authority.pem", "private-host.pem", "private_host.py"]),
        tests(
            "Partition",
            needs: [
                "Failures", "VariantSpec", "Canonical", "HTTPCache", "ImageModel", "Records", "Partition", "Planning",
                "Digest", "Ports", "Posix",
            ]),
        tests(
            "Picture",
            needs: [
                "VariantSpec", "Failures", "ImageModel", "Ports", "Posix", "PictureHeaders", "TestPixels",
                "mezzotint-inspector", "mezzotint-renderer", "RenderKit", "RenderProtocol", "RendererPool",
            ],
            data: ["outcomes.golden.txt", "References"]),
        tests("Planning", needs: ["Planning", "VariantSpec", "Canonical", "ImageModel", "Digest"]),
        tests("Posix", needs: ["Posix"]),
        tests(
            "Rendering",
            needs: [
                "Failures", "VariantSpec", "Records", "Ports", "Posix", "PictureHeaders", "TestPixels", "RenderKit",
                "RenderProtocol", "RendererPool",
            ],
            data: ["Corpus"]),
        tests(
            "Reuse",
            needs: [
                "Planning", "Ports", "VariantSpec", "Canonical", "ImageModel", "Digest", "Posix", "TestPixels",
                "RendererPool",
            ]),
        tests("Simulation", needs: ["Simulation"]),
        tests("SQLite", needs: ["SQLite"]),
        tests(
            "Schema",
            needs: [
                "Digest", "Failures", "VariantSpec", "Canonical", "ImageModel", "Records", "KafkaLog", "KafkaSetup",
                "Ports", "TestPixels", "TestWorkplace", "mezzotint", "mezzotint-inspector", "mezzotint-renderer",
                "mezzotint-worker",
            ], data: ["validate.py"]),
        tests("Settings", needs: ["Canonical", "Settings", "KafkaSetup", "Posix"]),
        tests(
            "Store",
            needs: [
                "Store", "Ports", "VariantSpec", "Canonical", "Failures", "ImageModel", "Records", "Digest", "Posix",
            ]),
        tests("Telemetry", needs: ["Telemetry"]),
        tests(
            "Worker",
            needs: [
                "Access", "CacheSuite", "Digest", "EmbeddedLog", "VariantSpec", "Canonical", "Failures", "HTTP",
                "HTTPCache", "ImageModel", "Records", "Index",
                "Origin", "Partition", "Planning", "Ports", "Posix", "Store", "Telemetry", "TestPixels",
                "WorkerRuntime", "mezzotint-inspector", "mezzotint-renderer", "mezzotint-worker", "RendererPool",
            ]),
        tests(
            "Watch", needs: ["Canonical", "Failures", "ImageModel", "Ports", "Posix", "Records", "Telemetry", "Watch"]),
        tests("WebServer", needs: ["HTTP", "Posix", "WebServer"]),
    ],
    swiftLanguageModes: [.v6]
)

// Tests that try thousands of random cases, or look at every pixel.
let computing: Set = [
    "CanonicalTests", "JSONTextTests", "PartitionTests", "PictureTests", "RecordsTests", "RenderingTests", "ReuseTests",
    "VariantSpecTests",
]

// Builds one file at a time and without optimising: a change of one file is there in seconds, but tests that compute are
// four times as slow. For work in progress; a landing is built without it.
let isQuick = Context.environment["MEZZOTINT_QUICK_BUILD"] != nil

// One loop sets the house's language features for every Swift target.
for target in package.targets where target.type != .system && target.name != "CPixels" {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
    ]
    // Rooms are optimised in debug builds too, as a whole, or tests take four times as long; their checks of bounds and
    // sums stay. Two threads: one file at a time has no index of its own, and the build system asks for one.
    if !isQuick, target.type == .regular || computing.contains(target.name) {
        let flags = ["-O", "-whole-module-optimization", "-disable-batch-mode", "-num-threads", "2"]
        target.swiftSettings?.append(.unsafeFlags(flags, .when(configuration: .debug)))
    }
    // A world lives on one thread, and its tests' builds look at each access: a million seeds need not.
    if target.name == "Simulation" {
        target.swiftSettings?.append(.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)))
    }
}

// Only for ops/fuzz: with it every room is built with coverage, and libFuzzer brings the program's beginning.
if Context.environment["MEZZOTINT_FUZZ"] != nil {
    for target in package.targets where target.type == .regular && target.name != "CPixels" {
        target.swiftSettings?.append(.unsafeFlags(["-sanitize=fuzzer"]))
    }
    package.targets.append(
        .executableTarget(
            name: "mezzotint-fuzz",
            dependencies: [
                "Access", "Canonical", "Digest", "DomainNames", "HTTP", "HTTPCache", "ImageModel", "PictureHeaders",
                "Ports", "Posix",
                "Records", "RenderProtocol", "VariantSpec",
            ], path: "workers/fuzz",
            swiftSettings: [
                .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("ExistentialAny"),
                .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"]),
            ],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]))
}
