import Foundation
import TestSupport

@testable import Settings

func problems(file: String = "", environment: [String: String] = [:], set: [String] = []) throws -> [String] {
    let folder = try TemporaryFolder()
    try Data(file.utf8).write(to: folder.url.appending(path: "m.yaml"))
    let outcome = Result { () throws(SettingsFailure) in
        try Settings.loaded(file: folder.file("m.yaml"), environment: environment, assignments: set)
    }
    guard case .failure(let failure) = outcome else { return [] }
    return failure.problems.map { $0.description.replacing(folder.path + "/", with: "") }
}

func settings(file: String = "", environment: [String: String] = [:], set: [String] = []) throws -> Settings {
    let folder = try TemporaryFolder()
    try Data(file.utf8).write(to: folder.url.appending(path: "m.yaml"))
    return try Settings.loaded(file: folder.file("m.yaml"), environment: environment, assignments: set).settings
}
