import CommandLine
import Posix

ProcessEnvironment.forgetLibraries()
await Program.command.main()
