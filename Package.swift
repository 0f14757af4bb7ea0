// swift-tools-version: 6.2
import PackageDescription

/// A system module for one C library of Debian 12: a module map and a shim under `Sources/Platform/C`.
func library(_ name: String, _ pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/Platform/C/\(name)", pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
}

/// A module of the product, in one of the seven folders of `Sources`; `needs` are the only modules it may see.
/// `ManifestTests.folders` says which folder may see which.
func module(_ name: String, in folder: String, needs: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: needs, path: "Sources/\(folder)/\(name)")
}

/// A program: the only place that puts adapters and the runtime together.
func program(_ name: String, in folder: String, needs: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: needs, path: "workers/\(folder)")
}

/// The folder is that of what is tested, or `Programs`. `data`: files that the tests read where they lie.
func tests(_ name: String, in folder: String, needs: [Target.Dependency], data: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: needs + ["Clocks", "TestSupport"], path: "Tests/\(folder)/\(name)Tests",
        exclude: data)
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
        library("CHEIF", "libheif", apt: "libheif-dev"),
        library("CJPEG", "libjpeg", apt: "libjpeg-dev"),
        library("CWebP", "libwebp", apt: "libwebp-dev"),
        library("CDeflate", "libdeflate", apt: "libdeflate-dev"),
        library("CBrotli", "libbrotlidec", apt: "libbrotli-dev"),
        library("CLCMS", "lcms2", apt: "liblcms2-dev"),
        library("CZstd", "libzstd", apt: "libzstd-dev"),
        // Ours, in C for its intrinsics; optimised in debug builds too, where pictures are tested.
        .target(name: "CPixels", path: "Sources/Platform/C/CPixels", cSettings: [.unsafeFlags(["-O3"])]),
        // Ours, in C since it stands before glibc's own: linked into the renderer alone.
        .target(name: "CAllocations", path: "Sources/Platform/C/CAllocations"),
        library("CSeccomp", "libseccomp", apt: "libseccomp-dev"),
        library("CMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev"),

        // Platform. Thin Swift over the system and its libraries: each C module has one importer. Settings, commands.
        module("Clocks", in: "Platform"),
        module("Posix", in: "Platform", needs: ["Clocks", "CPosix"]),
        module("SQLite", in: "Platform", needs: ["CSQLite"]),
        module("HTTP", in: "Platform", needs: ["Clocks", "CCurl", "Posix"]),
        module("Digest", in: "Platform", needs: ["CCrypto"]),
        module("DomainNames", in: "Platform", needs: ["CIDN2"]),
        module("Seccomp", in: "Platform", needs: ["CSeccomp", "Posix"]),
        module("JSONText", in: "Platform", needs: ["Clocks"]),
        module("WebServer", in: "Platform", needs: ["CMicroHTTPD", "JSONText", "Posix"]),
        module("CommandLine", in: "Platform", needs: ["JSONText"]),
        module(
            "Settings", in: "Platform",
            needs: [
                "Access", "Clocks", "VariantSpec", "Canonical", "Digest", "ImageModel", "CommandLine", "HTTP",
                "EmbeddedLog", "KafkaSetup", "Origin", "Posix", "RendererPool", "SettingTypes", "Store",
            ]),
        module("SettingTypes", in: "Platform", needs: ["Clocks", "CYAML"]),

        // Model. Values, the same for every program. Pure.
        module("Failures", in: "Model"),
        module("HTTPCache", in: "Model", needs: ["Clocks"]),
        module("Access", in: "Model", needs: ["DomainNames", "Posix"]),
        module("VariantSpec", in: "Model", needs: ["Failures", "JSONText"]),
        module("Canonical", in: "Model", needs: ["Failures", "VariantSpec", "Digest", "DomainNames"]),
        module("Images", in: "Model", needs: ["VariantSpec", "Failures"]),
        module("ImageModel", in: "Model", needs: ["Clocks", "VariantSpec", "Images", "Canonical", "Digest", "HTTPCache"]),
        module(
            "Records", in: "Model",
            needs: ["Clocks", "Digest", "Failures", "VariantSpec", "Canonical", "HTTPCache", "ImageModel", "JSONText"]),

        // Ports. Protocols of the log, store, index, origins and renderers.
        module(
            "Ports", in: "Ports",
            needs: ["Clocks", 
                "Digest", "Failures", "VariantSpec", "Canonical", "HTTPCache", "Images", "ImageModel", "Records",
                "Posix",
            ]),

        // Core. Rules and reducers, which never await.
        module("Planning", in: "Core", needs: ["Clocks", "Digest", "VariantSpec", "Canonical", "Images", "ImageModel"]),
        module("Ledger", in: "Core", needs: ["Canonical", "Clocks", "ImageModel", "Ports", "Records", "VariantSpec"]),
        module("Positions", in: "Core", needs: ["Clocks", "Failures", "Ledger", "Ports", "Records"]),
        module(
            "Hosts", in: "Core",
            needs: [
                "Canonical", "Clocks", "Failures", "HTTPCache", "ImageModel", "Images", "Ledger", "Ports", "Records",
                "VariantSpec",
            ]),
        module("Quarantine", in: "Core", needs: ["Canonical", "Clocks", "ImageModel", "Ledger", "Records"]),
        module(
            "Permits", in: "Core",
            needs: ["Canonical", "Clocks", "Hosts", "ImageModel", "Ledger", "Quarantine", "Records"]),
        module(
            "Jobs", in: "Core",
            needs: [
                "Canonical", "Clocks", "Failures", "HTTPCache", "Hosts", "ImageModel", "Images", "Ledger", "Permits",
                "Planning", "Ports", "Positions", "Quarantine", "Records", "VariantSpec",
            ]),
        module(
            "Partition", in: "Core",
            needs: [
                "Canonical", "Clocks", "Failures", "Hosts", "ImageModel", "Jobs", "Ledger", "Permits", "Planning",
                "Ports", "Positions", "Quarantine", "Records", "VariantSpec",
            ]),

        // Adapters. Implementations of the ports.
        module("EmbeddedLog", in: "Adapters", needs: ["Clocks", "Records", "Ports", "SQLite", "Posix", "CZstd", "SettingTypes"]),
        module("KafkaSetup", in: "Adapters", needs: ["Clocks", "SettingTypes"]),
        module("KafkaLog", in: "Adapters", needs: ["Clocks", "Records", "Ports", "KafkaSetup", "CRdkafka", "Posix"]),
        module(
            "Index", in: "Adapters",
            needs: ["Clocks", 
                "Failures", "Ports", "VariantSpec", "Canonical", "HTTPCache", "ImageModel", "Records", "SQLite", "Digest", "Posix",
            ]),
        module(
            "Origin", in: "Adapters",
            needs: [
                "Clocks", "Access", "Canonical", "CommandLine", "HTTPCache", "Images", "Ports", "HTTP", "Digest", "Posix",
                "SettingTypes",
            ]),
        module(
            "Store", in: "Adapters",
            needs: ["Clocks", "Ports", "Canonical", "Records", "Digest", "Posix", "SettingTypes"]),
        module(
            "RendererPool", in: "Adapters",
            needs: ["Clocks", "VariantSpec", "Images", "ImageModel", "Ports", "Posix", "RenderProtocol", "SettingTypes"]),

        // Imaging. The modules of the child processes, which see of the model images and specs alone. Only the inspector
        // has `ImageHeaders`: no module of the worker may see it.
        module("RenderProtocol", in: "Imaging", needs: ["VariantSpec", "Images"]),
        module("ImageHeaders", in: "Imaging", needs: ["VariantSpec", "Images", "CBrotli", "Posix", "RenderProtocol"]),
        module("RenderKit", in: "Imaging", needs: ["VariantSpec", "Images", "Posix", "CPixels", "RenderProtocol"]),
        module("Vips", in: "Imaging", needs: ["VariantSpec", "Images", "CHEIF", "CVips", "RenderKit", "RenderProtocol"]),
        module(
            "DirectPath", in: "Imaging",
            needs: [
                "VariantSpec", "Images", "CJPEG", "CWebP", "CDeflate", "CLCMS", "RenderKit", "RenderProtocol",
            ]),

        // Runtime. The worker's loop, diagnosis with its page, JSON and metrics (`Watch`), telemetry.
        module("Telemetry", in: "Runtime", needs: ["Clocks", "JSONText"]),
        module(
            "WorkerRuntime", in: "Runtime",
            needs: ["Hosts", "Jobs", "Ledger", "Permits", "Positions", "Clocks", "Quarantine",
                "Digest", "Failures", "VariantSpec", "Canonical", "Images", "ImageModel", "Records", "JSONText",
                "Planning", "Partition", "Ports", "Posix", "Telemetry",
            ]),
        module(
            "Watch", in: "Runtime",
            needs: ["Clocks", 
                "Canonical", "Failures", "HTTPCache", "Images", "ImageModel", "JSONText", "Ports", "Posix", "Records",
                "Telemetry", "VariantSpec",
            ]),

        .target(
            name: "LogChoice",
            dependencies: [
                "Ports", "EmbeddedLog", "KafkaLog", "Posix", "Records", "Settings", "StoreChoice", "KafkaSetup",
            ],
            path: "workers/log"),
        .target(name: "StoreChoice", dependencies: ["Ports", "Settings", "Store"], path: "workers/store"),
        program(
            "mezzotint-worker", in: "worker",
            needs: ["Hosts", "Jobs", "Permits", "Clocks", 
                "Failures", "Canonical", "HTTPCache", "Images", "ImageModel", "Records", "Planning",
                "Partition", "Ports", "WorkerRuntime", "LogChoice", "StoreChoice", "Index", "Origin", "HTTP", "Telemetry",
                "CommandLine", "Settings", "Posix", "WebServer", "RenderProtocol", "RendererPool",
            ]),
        program(
            "mezzotint-renderer", in: "renderer",
            needs: [
                "VariantSpec", "Vips", "DirectPath", "Seccomp", "CAllocations", "CommandLine", "Posix", "RenderKit",
                "RenderProtocol",
            ]),
        program(
            "mezzotint-inspector", in: "inspector",
            needs: ["ImageHeaders", "Seccomp", "CommandLine", "Posix", "RenderProtocol"]),
        program(
            "mezzotint", in: "mezzotint",
            needs: ["Clocks", 
                "Failures", "VariantSpec", "Canonical", "HTTP", "HTTPCache", "Images", "ImageModel", "Records", "Digest",
                "JSONText", "Index", "KafkaLog", "KafkaSetup", "Ledger", "LogChoice", "Planning", "Ports", "CommandLine", "Settings", "SettingTypes",
                "StoreChoice", "Posix", "Telemetry", "Watch", "WebServer", "RenderProtocol", "RendererPool",
            ]),
        program(
            "mezzotint-lagwatch", in: "lagwatch",
            needs: ["Clocks", 
                "Access", "Canonical", "CommandLine", "Failures", "HTTP", "ImageModel", "KafkaSetup", "LogChoice",
                "Ports",
                "Posix", "Records", "Settings", "Telemetry", "VariantSpec", "Watch", "WebServer",
            ]),
        program(
            "mezzotint-bench", in: "bench",
            needs: ["Clocks", 
                "Digest", "VariantSpec", "Canonical", "Images", "ImageModel", "Records", "LogChoice", "Ports",
                "WebServer", "CommandLine", "Settings", "Posix", "CVips", "RenderProtocol", "RendererPool", "Vips",
                "TestPixels", "TestSupport",
            ]),
        program(
            "mezzotint-demo", in: "demo",
            needs: ["Clocks", 
                "VariantSpec", "Canonical", "Images", "ImageModel", "Records", "KafkaLog", "KafkaSetup", "LogChoice",
                "Ports", "Settings", "WebServer", "CommandLine", "JSONText", "Posix", "RenderProtocol", "RendererPool",
                "TestPixels",
            ]),

        program(
            "mezzotint-campaign", in: "campaign",
            needs: ["Clocks", 
                "VariantSpec", "Canonical", "ImageModel", "Records", "EmbeddedLog", "Ports", "WebServer", "CommandLine",
                "Posix", "RenderProtocol", "TestPixels", "TestSupport",
            ]),

        // Three workers of the product in a world of one seed, and the program that runs seeds; neither is installed.
        .target(
            name: "Simulation",
            dependencies: ["Hosts", "Jobs", "Ledger", "Permits", "Positions", "Clocks", "Quarantine",
                "Canonical", "Digest", "Failures", "HTTPCache", "Images", "ImageModel", "Partition", "Planning",
                "MemoryIndex", "Ports", "Posix", "Records", "Telemetry", "VariantSpec", "WorkerRuntime",
            ],
            path: "Tests/Runtime/Simulation"),
        // Runs millions of short steps through Swift's runtime: called without a detour, that costs an eighth less. No tests
        // need it as a part of their bundle, which would be linked so, too.
        .executableTarget(
            name: "mezzotint-sim", dependencies: ["Clocks", "CommandLine", "Posix", "Simulation"], path: "workers/sim",
            linkerSettings: [.unsafeFlags(["-static-stdlib"])]),

        .target(name: "TestPixels", dependencies: ["ImageHeaders"], path: "Tests/Support/TestPixels"),
        .target(
            name: "TestSupport",
            dependencies: ["Clocks", "Digest", "HTTP", "VariantSpec", "Canonical", "Records", "Ports", "Posix", "WebServer"],
            path: "Tests/Support/TestSupport"),
        .target(
            name: "TestWorkplace",
            dependencies: [
                "Digest", "EmbeddedLog", "ImageModel", "Records", "KafkaLog", "KafkaSetup", "Ports", "TestPixels",
                "TestSupport",
            ],
            path: "Tests/Support/TestWorkplace"),
        .target(
            name: "MemoryIndex", dependencies: ["Canonical", "Clocks", "ImageModel", "Ports", "Records"],
            path: "Tests/Support/MemoryIndex"),
        .target(name: "CacheSuite", dependencies: ["Clocks", "TestSupport"], path: "Tests/Support/CacheSuite"),
        tests("Access", in: "Model", needs: ["Access", "Posix"]),
        tests(
            "Command", in: "Programs",
            needs: [
                "EmbeddedLog", "Failures", "VariantSpec", "Canonical", "ImageModel", "JSONText", "Records", "Digest",
                "Ports", "Posix", "TestPixels", "mezzotint", "mezzotint-bench", "mezzotint-demo", "mezzotint-inspector",
                "mezzotint-lagwatch", "mezzotint-renderer",
                "mezzotint-worker",
            ]),
        tests(
            "Cluster", in: "Programs",
            needs: [
                "Canonical", "ImageModel", "Records", "KafkaLog", "KafkaSetup", "Ports", "TestPixels", "TestWorkplace",
                "mezzotint", "mezzotint-bench", "mezzotint-demo", "mezzotint-inspector", "mezzotint-lagwatch",
                "mezzotint-renderer", "mezzotint-worker",
            ]),
        tests("CommandLine", in: "Platform", needs: ["CommandLine"]),
        tests(
            "DirectPath", in: "Imaging", needs: ["VariantSpec", "Images", "DirectPath", "RenderKit", "RenderProtocol"]),
        tests(
            "EmbeddedLog", in: "Adapters",
            needs: [
                "Failures", "VariantSpec", "Canonical", "ImageModel", "Records", "Digest", "EmbeddedLog", "Ports",
                "SQLite",
            ]),
        tests(
            "Fault", in: "Programs",
            needs: [
                "EmbeddedLog", "Failures", "VariantSpec", "Canonical", "ImageModel", "Index", "KafkaSetup", "Records",
                "Ports", "Posix", "SQLite", "TestPixels", "TestWorkplace", "mezzotint", "mezzotint-campaign",
                "mezzotint-inspector", "mezzotint-renderer", "mezzotint-worker",
            ],
            data: ["Fixtures"]),
        tests("HTTP", in: "Platform", needs: ["HTTP"], data: ["hostile.py", "hostile.pem"]),
        tests("HTTPCache", in: "Model", needs: ["CacheSuite", "HTTPCache"]),
        tests("Canonical", in: "Model", needs: ["Failures", "VariantSpec", "Canonical"]),
        tests("VariantSpec", in: "Model", needs: ["Failures", "VariantSpec", "Canonical"]),
        tests(
            "Records", in: "Model",
            needs: ["Failures", "VariantSpec", "Canonical", "HTTPCache", "ImageModel", "Records", "Digest"]),
        tests(
            "ImageModel", in: "Model", needs: ["Failures", "VariantSpec", "Canonical"],
            data: ["canonical-vectors.json", "spec-vectors.json"]),
        tests("JSONText", in: "Platform", needs: ["JSONText"]),
        tests(
            "Index", in: "Adapters",
            needs: [
                "Digest", "VariantSpec", "Canonical", "Failures", "HTTPCache", "ImageModel", "MemoryIndex", "Records",
                "Index", "Ports",
                "SQLite",
            ]),
        tests("KafkaLog", in: "Adapters", needs: ["Failures", "Records", "KafkaLog", "KafkaSetup", "Ports", "Posix"]),
        tests(
            "LogContract", in: "Ports",
            needs: ["Failures", "ImageModel", "Records", "EmbeddedLog", "KafkaLog", "KafkaSetup", "Ports"]),
        tests(
            "Metrics", in: "Programs",
            needs: [
                "Canonical", "HTTP", "ImageModel", "Records", "Ports", "Posix", "Telemetry", "TestPixels",
                "TestWorkplace", "WebServer", "mezzotint", "mezzotint-inspector", "mezzotint-lagwatch",
                "mezzotint-renderer", "mezzotint-worker",
            ]),
        tests(
            "Origin", in: "Adapters",
            needs: [
                "Access", "Canonical", "HTTPCache", "Origin", "Images", "Ports", "Failures", "ImageModel", "HTTP",
                "Digest", "Posix",
            ],
            data: ["private-authority.pem", "private-host.pem", "private_host.py"]),
        tests(
            "Partition", in: "Core",
            needs: ["Hosts", "Jobs", "Ledger", "Permits", "Positions", "Quarantine",
                "Failures", "VariantSpec", "Canonical", "HTTPCache", "Images", "ImageModel", "Records", "Partition",
                "Planning", "Digest", "Ports", "Posix",
            ]),
        tests(
            "Picture", in: "Imaging",
            needs: [
                "VariantSpec", "Failures", "Access", "Canonical", "Images", "ImageModel", "Origin", "Ports", "Posix", "ImageHeaders",
                "TestPixels", "mezzotint-inspector", "mezzotint-renderer", "RenderKit", "RenderProtocol", "RendererPool",
            ],
            data: ["outcomes.golden.txt", "References"]),
        tests(
            "Planning", in: "Core", needs: ["Planning", "VariantSpec", "Canonical", "Images", "ImageModel", "Digest"]),
        tests("Posix", in: "Platform", needs: ["Posix"]),
        tests(
            "Rendering", in: "Imaging",
            needs: [
                "Failures", "VariantSpec", "Images", "Records", "Posix", "ImageHeaders", "TestPixels", "RenderKit",
                "RenderProtocol", "RendererPool",
            ],
            data: ["Corpus"]),
        tests(
            "Reuse", in: "Core",
            needs: [
                "Planning", "Images", "Ports", "VariantSpec", "Canonical", "ImageModel", "Digest", "Posix",
                "TestPixels", "RendererPool",
            ]),
        tests("Simulation", in: "Runtime", needs: ["Simulation"]),
        tests("SQLite", in: "Platform", needs: ["SQLite"]),
        tests(
            "Schema", in: "Programs",
            needs: [
                "Digest", "Failures", "VariantSpec", "Canonical", "ImageModel", "Records", "KafkaLog", "KafkaSetup",
                "Ports", "TestPixels", "TestWorkplace", "mezzotint", "mezzotint-inspector", "mezzotint-renderer",
                "mezzotint-worker",
            ], data: ["validate.py"]),
        tests(
            "Settings", in: "Platform",
            needs: ["Access", "Canonical", "Settings", "KafkaSetup", "Origin", "Posix", "RendererPool", "SettingTypes", "Store"]),
        tests(
            "Store", in: "Adapters",
            needs: [
                "Store", "Ports", "VariantSpec", "Canonical", "Failures", "ImageModel", "Records", "Digest", "Posix",
            ]),
        tests("Telemetry", in: "Runtime", needs: ["Telemetry"]),
        tests(
            "Worker", in: "Runtime",
            needs: ["Hosts", "Jobs", "Ledger", "Permits", 
                "Access", "CacheSuite", "Digest", "EmbeddedLog", "VariantSpec", "Canonical", "Failures", "HTTP",
                "HTTPCache", "Images", "ImageModel", "Records", "Index", "Origin", "Partition", "Planning", "Ports",
                "Posix", "Store", "Telemetry", "TestPixels", "WorkerRuntime", "mezzotint-inspector",
                "mezzotint-renderer", "mezzotint-worker", "RendererPool",
            ]),
        tests(
            "Watch", in: "Runtime",
            needs: ["Canonical", "Digest", "Failures", "ImageModel", "Ports", "Posix", "Records", "Telemetry", "Watch"]),
        tests("WebServer", in: "Platform", needs: ["HTTP", "Posix", "WebServer"]),
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
    // Modules are optimised in debug builds too, as a whole, or tests take four times as long; their checks of bounds and
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

// Only for ops/fuzz: with it every module is built with coverage, and libFuzzer brings the program's beginning.
if Context.environment["MEZZOTINT_FUZZ"] != nil {
    for target in package.targets where target.type == .regular && target.name != "CPixels" {
        target.swiftSettings?.append(.unsafeFlags(["-sanitize=fuzzer"]))
    }
    package.targets.append(
        .executableTarget(
            name: "mezzotint-fuzz",
            dependencies: [
                "Access", "Canonical", "Clocks", "Digest", "DomainNames", "HTTP", "HTTPCache", "ImageHeaders",
                "ImageModel", "Images", "Posix", "Records", "RenderKit", "RenderProtocol", "VariantSpec",
            ], path: "workers/fuzz",
            swiftSettings: [
                .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("ExistentialAny"),
                .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"]),
            ],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]))
}
