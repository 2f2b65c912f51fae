import ArgumentParser
import EntityStore
import LodestoreFormat

/// The condition of the query commands: a format string, and the values for its placeholders.
struct ConditionOptions: ParsableArguments {
  /// The part of every help page about format strings.
  static let grammar = """
    The format string follows the grammar of Apple's Predicate Programming Guide:
      name BEGINSWITH[cd] "af" AND NOT (version LIKE "0.*" OR home == NULL)
      license == "MIT" OR license.type IN {"MIT", "BSD"} OR tags.@count > 3
    A JSON attribute is compared by its content: license == "MIT" is true for that text, \
    license.type == "MIT" for an object with that member; authors[0] is the first of a list. \
    '_id' is the record's id. '#name' is an attribute whose name is a word of the grammar.
    """

  @Argument(
    help: .value(
      "The condition as a predicate format string; without one, all records.", "format string"))
  var text: String?

  @OptionGroup var marks: MarkOptions

  func validate() throws { try marks.check(text) }

  /// The request for the condition, without order and limit.
  func request() throws(StoreError) -> QueryRequest { try marks.request(text) }
}

/// The values for the placeholders of a format string, and whether an index must serve it.
struct MarkOptions: ParsableArguments {
  @Option(
    name: .customLong("arg"), parsing: .unconditionalSingleValue,
    help: .value(
      "The text for the next %@ of the format string; it needs no quotes.",
      discussion: "Give it once for each %@, in order. For %K it is a path such as license.type.",
      "value"))
  var arguments: [String] = []

  @Flag(help: "Fail with status 64 if the query would read all records.") var requireIndex = false

  /// Refuses values without a format string.
  func check(_ text: String?) throws {
    try refuse(if: text == nil && !arguments.isEmpty, "--arg: the format string has no %@ for it")
  }

  /// The request for the records for which `text` is true; `nil` requests all.
  func request(_ text: String?) throws(StoreError) -> QueryRequest {
    var request = try QueryRequest(format: text, arguments: arguments)
    request.requiresIndex = requireIndex
    return request
  }
}
