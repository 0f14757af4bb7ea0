import CommandLine

await Demo.command.main()
