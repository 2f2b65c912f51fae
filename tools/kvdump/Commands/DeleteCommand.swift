import ArgumentParser
import EntityStore

/// `kvdump delete`: deletes the records that meet a condition, in one transaction.
struct DeleteCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete the records that meet a condition. Writes.",
    discussion: """
      Examples:
        kvdump delete pods.lodestore Pod 'deprecated == YES' --dry-run
        kvdump delete pods.lodestore Pod --all --sort lastUsed --limit 1000 --yes

      On a terminal the command shows the count and asks; elsewhere --yes is required. Either \
      all records found are deleted, in one transaction, or none. The report has the numbers of \
      records found, deleted and left. The status is 0 even if no record was found, and 1 if the \
      answer was no.

      \(ConditionOptions.grammar)
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String

  @Argument(help: .value("The condition as a predicate format string.", "format string"))
  var condition: String?

  @OptionGroup(title: "Selection") var options: ChangeOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws { try options.check(condition) }

  var formatString: String? { condition }

  func run(on console: Console) async throws -> ExitStatus {
    try ConfirmedChange(
      verb: .init(question: "Delete", participle: "deleted"), entityName: entity,
      store: store.writablePath, options: options, console: console
    ).run { snapshot, entity in
      let request = try options.request(condition, for: entity, of: snapshot)
      return (request, { try $0.delete(request, of: entity) })
    }
  }
}
