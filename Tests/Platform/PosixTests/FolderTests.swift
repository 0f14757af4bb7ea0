import Foundation
import Glibc
import Posix
import TestSupport
import Testing

@Suite("Folders of one user's own", .timeLimit(.minutes(1)))
struct FolderTests {
    @Test("A folder is closed, by way of a link too; a file that a link in its place leads to keeps its rights")
    func linked() throws {
        let folder = try TemporaryFolder()
        let (file, other) = (folder.file("file"), folder.file("other"))
        try Data("precious".utf8).write(to: URL(filePath: file))
        try Folder.make(other, mode: 0o755)
        #expect(chmod(file, 0o644) == 0)
        for (target, link, mode) in [(other, "a", 0o700 as UInt32), (file, "b", 0o644)] {
            #expect(symlink(target, folder.file(link)) == 0)
            try? Folder.makePrivate(folder.file(link))
            #expect(FileSystem.mode(of: target) == mode, "\(target)")
        }
    }
}
