internal import CommandLine
internal import Posix
internal import Vips

let renderer = RendererCommand(words: Array(Swift.CommandLine.arguments.dropFirst()))
renderer.run()
