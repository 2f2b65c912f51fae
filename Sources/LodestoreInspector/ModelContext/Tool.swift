internal import EntityStore
internal import LodestoreRows

/// A tool that a model may call; all of them only read.
enum Tool: String, CaseIterable, Sendable {
  case entities, describe, sample, query, explain, search, near, similar

  /// An argument, with its JSON Schema without the braces.
  struct Argument: Sendable {
    var name: String
    var schema: String
    var isRequired = false

    init(_ name: String, _ schema: String, isRequired: Bool = false) {
      self.name = name
      self.schema = schema
      self.isRequired = isRequired
    }
  }

  static let mostRows = Selection.largestPage
  static let usualRows = 50
  static let mostSamples = 20
  static let usualSamples = 5

  private var title: String {
    switch self {
    case .entities: "Entities of the store"
    case .describe: "Schema of an entity"
    case .sample: "Sample of records"
    case .query: "Query of records"
    case .explain: "Plan of a query"
    case .search: "Search for words"
    case .near: "Records near a place"
    case .similar: "Records similar to one"
    }
  }

  private var summary: String {
    switch self {
    case .entities:
      "Lists the entities with their numbers of records, sizes and indexes, and facts about the file."
    case .describe:
      "Lists the attributes of an entity with their types, defaults, constraints and indexes, its "
        + "relationships and its rules."
    case .sample:
      "Returns some records from ids spread over the entity, to show typical values. With 'where', "
        + "records that meet the condition."
    case .query:
      "Returns the records that meet a condition, in an order. If 'next' is not null, pass it as "
        + "'after' with the same other arguments to get the following records. 'facets' returns the "
        + "most frequent values of expressions, and 'count' the number of all selected records."
    case .explain:
      "Returns the plan of a query: the index that it uses, and the numbers of entries and records "
        + "that it is estimated to read and has read. A query with 'scan' reads all records."
    case .search:
      "Returns the records whose texts have words, the best matches first. The entity must have a "
        + "search index, which 'describe' lists with its texts. If 'next' is not null, pass it as "
        + "'after' with the same other arguments. If nothing is found, 'notices' may suggest other "
        + "words. 'count' returns the number of all records found."
    case .near:
      "Returns the records near a place, the nearest first, with the distance in meters as "
        + "'_distance'. The entity must have a place index, which 'describe' lists. Without "
        + "'distance', the nearest records are returned, however far away they are. If 'next' is "
        + "not null, pass it as 'after' with the same other arguments."
    case .similar:
      "Returns the records whose vectors are most similar to that of one record, the most similar "
        + "first, with the cosine distance from 0 to 2 as '_distance'. The entity must have a "
        + "vector index, which 'describe' lists."
    }
  }

  var arguments: [Argument] {
    switch self {
    case .entities: [Self.after("the name of the last entity")]
    case .describe: [Self.entity, Self.after("the name of the last attribute")]
    case .sample:
      [
        Self.entity, Self.condition, Self.columns,
        Argument(
          "count",
          #""type":"integer","minimum":1,"maximum":\#(Self.mostSamples),"default":\#(Self.usualSamples)"#
        ),
      ]
    case .query:
      [
        Self.entity, Self.condition, Self.sort, Self.columns,
        Argument(
          "facets",
          #""type":"array","items":{"type":"string"},"description":"Attributes, paths or expressions whose values are counted among the selected records.""#
        ), Self.count, Self.limit, Self.after("'next' of the preceding answer"),
      ]
    case .explain: [Self.entity, Self.condition, Self.sort, Self.limit]
    case .search:
      [
        Self.entity, Self.text, Self.mode, Self.condition, Self.columns, Self.count, Self.limit,
        Self.after("'next' of the preceding answer"),
      ]
    case .near:
      [
        Self.entity,
        Argument(
          "latitude",
          #""type":"number","minimum":-90,"maximum":90,"description":"Degrees north.""#,
          isRequired: true),
        Argument(
          "longitude",
          #""type":"number","minimum":-180,"maximum":180,"description":"Degrees east.""#,
          isRequired: true),
        Argument(
          "distance",
          #""type":"number","minimum":0,"description":"The highest distance in meters.""#),
        Self.index, Self.condition, Self.columns, Self.count, Self.limit,
        Self.after("'next' of the preceding answer"),
      ]
    case .similar:
      [
        Self.entity,
        Argument(
          "id", #""type":"integer","minimum":1,"description":"The '_id' of the record.""#,
          isRequired: true), Self.index, Self.condition, Self.columns, Self.limit,
      ]
    }
  }

  private static let index = Argument(
    "index",
    #""type":"string","description":"The name of the index, if there are several; by default the first one.""#
  )

  private static let text = Argument(
    "text",
    #""type":"string","description":"The words. Quotes enclose a phrase, -word excludes records, name:word is a word in one attribute, wor* is a beginning, a OR b is one of two. Case and accents do not matter.""#,
    isRequired: true)
  private static let mode = Argument(
    "mode",
    #""type":"string","enum":[\#(SearchMode.choices.map { "\"\($0.name)\"" }.joined(separator: ","))],"default":"all","description":"Whether a record must have all words, or any one of them, or all with the last word as a beginning (typing).""#
  )
  private static let count = Argument(
    "count",
    #""type":"boolean","default":false,"description":"Whether to count all selected records.""#)

  private static let entity = Argument(
    "entity", #""type":"string","description":"The name of an entity.""#, isRequired: true)
  private static let condition = Argument(
    "where",
    #""type":"string","description":"A predicate format string in the grammar of NSPredicate, such as name BEGINSWITH[cd] \"af\" AND NOT (version LIKE \"0.*\" OR license.type == NULL). A path with dots leads into JSON values and to related records. _id is the id of a record. A date is CAST(\"2020-01-31\", \"date\"). Without a condition, all records are selected.""#
  )
  private static let sort = Argument(
    "sort",
    #""type":"array","items":{"type":"string"},"description":"Paths or expressions, each with '-' before it for the descending order. Without them, the order is by id.""#
  )
  private static let columns = Argument(
    "columns",
    #""type":"array","items":{"type":"string"},"description":"The attributes, or paths into JSON values, that the records have. Without them, all attributes.""#
  )
  private static let limit = Argument(
    "limit",
    #""type":"integer","minimum":1,"maximum":\#(mostRows),"default":\#(usualRows),"description":"The number of records.""#
  )

  private static func after(_ text: String) -> Argument {
    Argument(
      "after", #""type":"string","description":"Continues after an answer: \#(text).""#)
  }

  private var inputSchema: String {
    let properties = arguments.map { "\"\($0.name)\":{\($0.schema)}" }.joined(separator: ",")
    let required = arguments.filter(\.isRequired).map { "\"\($0.name)\"" }.joined(separator: ",")
    return #"{"type":"object","properties":{\#(properties)},"required":[\#(required)],"#
      + #""additionalProperties":false}"#
  }

  /// The member of an answer with the rows.
  private var rows: String {
    switch self {
    case .entities: "entities"
    case .describe: "attributes"
    case .sample, .query, .search, .near, .similar: "rows"
    case .explain: "steps"
    }
  }

  private var outputSchema: String {
    let list = #"{"type":"array","items":{"type":"object"}}"#
    let selected =
      #""selected":{"type":"object","properties":{"records":{"type":["integer","null"]}}}"#
    let others =
      switch self {
      case .entities: #""file":{"type":"object"},"writes":\#(list)"#
      case .describe:
        #""relationships":\#(list),"searchIndexes":\#(list),"placeIndexes":\#(list),"vectorIndexes":\#(list),"rules":\#(list),"policies":{"type":"object"}"#
      case .sample: #""total":{"type":"object"}"#
      case .query:
        #"\#(selected),"facets":\#(list)"#
      case .search, .near, .similar: selected
      case .explain: #""reads":{"type":"object"}"#
      }
    return #"{"type":"object","properties":{"title":{"type":"string"},"#
      + #""commit":{"type":"integer"},"next":{"type":["string","null"]},"\#(rows)":\#(list),"#
      + #""notices":\#(list),\#(others)},"required":["title","commit","next","\#(rows)"]}"#
  }

  /// The description of the tool for `tools/list`.
  var cell: Cell {
    .object([
      ("name", .text(rawValue)), ("title", .text(title)), ("description", .text(summary)),
      ("inputSchema", .json(inputSchema)), ("outputSchema", .json(outputSchema)),
      (
        "annotations",
        .json(
          #"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#
        )
      ),
    ])
  }
}
