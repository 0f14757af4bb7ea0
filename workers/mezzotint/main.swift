import CommandLine

await Program.command.main()
