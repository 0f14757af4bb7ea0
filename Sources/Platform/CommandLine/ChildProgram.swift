internal import Glibc

/// Replies of a program that only mezzotint-worker starts, for people who run it by hand.
package struct ChildProgram: Sendable {
    private let name: String
    private let does: String
    /// Descriptor of the socket that the worker passes.
    package static let socket: Int32 = 3

    /// - Parameter does: its purpose, as a help page begins.
    package init(_ name: String, does: String) { (self.name, self.does) = (name, does) }

    /// Explains a command line without a task for it, and exits.
    package func explain(_ words: [String]) -> Never {
        switch words.first {
        case "--help", "-h": help()
        case "--version":
            Console.print("\(name) \(Command.version)")
            exit(0)
        // Every program accepts it; this program has no settings.
        case "--config" where words.count == 2: help()
        case let word? where words.count == 1 && word.hasPrefix("--config="): help()
        case nil: refuse("Nothing runs by hand here: mezzotint-worker starts it.")
        case "--config": refuse("'--config <file>' needs one value.")
        case let word? where ["serve", "parent"].contains(word):
            refuse("'\(word)' needs the socket that mezzotint-worker gives it.")
        case let word?:
            refuse(word.hasPrefix("-") ? "There is no option '\(word)'." : "Unexpected argument '\(word)'.")
        }
    }

    private func refuse(_ sentence: String) -> Never {
        Console.complain("\(name): \(sentence) See '\(name) --help'.")
        exit(2)
    }

    private func help() -> Never {
        Console.print(
            """
            OVERVIEW: \(does), which starts this
            with a socket and ends it. There is nothing to run by hand.

            USAGE: \(name) [--config <file>]

            OPTIONS:
              --config <file>  Ignored: settings come with each job.
              --help           Show this help.
              --version        Show the version.

            EXAMPLES (pictures are rendered by publishing jobs and running the worker):
              mezzotint publish --variants 640x480-q80.webp https://example.org/a.jpg
              mezzotint-worker --until-idle
            """)
        exit(0)
    }
}
