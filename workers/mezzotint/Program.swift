import CommandLine

/// The command line: publishes jobs and inspects their results, independent of the workers.
enum Program {
    static let command = Command(
        "mezzotint", abstract: "Publish image jobs; inspect results, lag and origins.",
        examples: ["mezzotint publish --variants 640x480-q80.webp https://a.example/b.jpg"],
        options: Option.configuration,
        subcommands: [
            PublishCommand.command, OutcomesCommand.command, VariantsCommand.command, WhyCommand.command,
            NormaliseCommand.command,
            LagCommand.command,
            OriginsCommand.command, ControlCommand.promote, ControlCommand.demote, ControlCommand.cancel,
            PauseCommand.pause, PauseCommand.resume, ControlListCommand.command,
            DeadCommand.command, LogCommand.command, TopicsCommand.command, ParkedCommand.command, DoctorCommand.command,
            ConfigurationCommand.command, ReferenceCommand.command,
        ])
}
