import ArgumentParser
import EntityStore

/// `kvdump update`: sets attributes of the records that meet a condition, in one transaction.
struct UpdateCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Set attributes of the records that meet a condition. Writes.",
    usage: "kvdump update <store> <entity> <format string>|--all <attribute=value> ... [<options>]",
    discussion: """
      Examples:
        kvdump update pods.lodestore Pod 'name == "A"' license=MIT deprecated=true
        kvdump update pods.lodestore Pod --all 'downloads:=downloads + 1' --yes

      attribute=value is a constant, read by the attribute's type: a number, true or false, a \
      date as ISO 8601, a UUID, Base64 for data, JSON for JSON; 'null' means null except for \
      text. attribute:=expression is calculated for each record from its present values, in the \
      notation of the format string: 'name:=uppercase(name)', 'home:=NULL'.

      On a terminal the command shows the count and asks; elsewhere --yes is required. Either \
      all records found are changed, in one transaction, or none: a value that does not fit, or \
      that another record has in a unique index, leaves the store unchanged. The report has the \
      numbers of records found, of records with changed values, and of all records. The status \
      is 0 even if no record was found, and 1 if the answer was no.

      \(ConditionOptions.grammar)
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String

  @Argument(
    help: .value(
      "The condition as a predicate format string, unless --all is given; then the new values.",
      "format string> <attribute=value"))
  var words: [String] = []

  @OptionGroup(title: "Selection") var options: ChangeOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  /// The first argument, unless `--all` is given.
  private var condition: String? { options.all ? nil : words.first }

  private var texts: [String] { Array(options.all ? words[...] : words.dropFirst()) }
  private var assignments: [Assignment] { texts.compactMap { Assignment($0) } }

  func validate() throws {
    try options.check(condition)
    for text in texts where Assignment(text) == nil {
      throw ValidationError(
        "'\(text)' is not an assignment; write attribute=value or attribute:=expression")
    }
    try refuse(
      if: texts.isEmpty,
      "no assignment; write attribute=value or attribute:=expression after the condition")
    let names = assignments.map(\.attribute)
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw ValidationError("'\(twice)' is set twice; choose one of them")
    }
  }

  var formatString: String? { condition }

  func run(on console: Console) async throws -> ExitStatus {
    let change = ConfirmedChange(
      verb: .init(question: "Update", participle: "updated"), entityName: entity,
      store: try store.writablePath, options: options, console: console)
    do {
      return try change.run { snapshot, entity in
        let request = try options.request(condition, for: entity, of: snapshot)
        let assignments = try assignments.map { try $0.bound(to: entity, of: snapshot) }
        return (request, { try $0.update(request, of: entity, assignments) })
      }
    } catch let error as StoreError where Self.leavesAll.contains(error.code) {
      throw CommandFailure.nothingUpdated(error, store: store.path)
    }
  }

  /// Errors that occur after some records were changed.
  ///
  /// The messages of these errors add that no change was kept.
  private static let leavesAll: [StoreError.Code] = [.uniqueViolation, .unstorableValue]
}
