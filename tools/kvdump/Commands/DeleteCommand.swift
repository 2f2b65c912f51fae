import ArgumentParser
import EntityStore

/// `kvdump delete`: deletes the records that meet a condition, in one transaction.
struct DeleteCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Remove the records for which a condition is true. Writes.",
    discussion: """
      Examples:
        kvdump delete pods.lodestore Pod 'deprecated == YES' --dry-run
        kvdump delete pods.lodestore Pod --all --sort lastUsed --limit 1000 --yes

      Asks on a terminal, with the count; elsewhere --yes is required. All of them go in one \
      transaction, or none. The report has how many were found and deleted, and how many records \
      there are now; the status is 0 also when none was found, and 1 when the answer was no.

      \(ConditionOptions.grammar)
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String

  @Argument(
    help: ArgumentHelp("The condition as a predicate format string.", valueName: "format string"))
  var condition: String?

  @OptionGroup(title: "Selection") var options: ChangeOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws { try options.check(condition) }

  var formatString: String? { condition }

  func run(on console: Console) async throws -> ExitStatus {
    try RecordChange(
      verb: .init(question: "Delete", participle: "deleted"), of: entity, in: store.path,
      options: options, console: console
    ).run(
      prepare: { snapshot, entity in
        (try options.request(condition, for: entity, of: snapshot), ())
      },
      apply: { transaction, entity, request, _ in
        try transaction.delete(request, of: entity)
      })
  }
}
