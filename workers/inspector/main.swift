internal import Posix

let inspector = InspectorCommand(words: Array(Swift.CommandLine.arguments.dropFirst()))
inspector.run()
