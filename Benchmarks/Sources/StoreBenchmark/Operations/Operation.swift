import BenchmarkFigures

/// The measured operations; the raw value is the name for `--only` and in JSON.
enum Operation: String, CaseIterable {
  // Changes of the pods. The operations `singleInserts` and `taskInserts` make one durable
  // transaction for each pod, and the others make one in total.
  case insert
  case upsert
  case updateBool = "update-bool"
  case deleteIn = "delete-in"
  case deleteDates = "delete-dates"
  case singleInserts = "single-inserts"
  case taskInserts = "task-inserts"
  case insertItems = "insert-items"

  // Reads of the pods.
  case getUnique = "get-unique"
  case getID = "get-id"
  case multiGet = "multi-get"
  case fetchAll = "fetch-all"
  case fetchAsync = "fetch-async"
  case fetchBatches = "fetch-batches"
  case fetchTwo = "fetch-two"
  case dateRanges = "date-ranges"
  case itemsByDate = "items-by-date"
  case scanNumbers = "scan-numbers"
  case scanText = "scan-text"
  case countDates = "count-dates"
  case idsIn = "ids-in"
  case namesIn = "names-in"
  case top
  case firstPages = "first-pages"
  case plans

  case gets
  case getsBesideWriter = "gets-beside-writer"
  case openClose = "open-close"
  case importMembers = "import-members"
  case importCodable = "import-codable"

  // Figures that are not times.
  case fileSize = "file-size"
  case itemFileSize = "item-file-size"
  case insertMemory = "insert-memory"
  case asyncRead = "async-read"
  case asyncWrite = "async-write"
}

extension Operation {
  /// The content of the store when the operation begins.
  enum Start {
    /// No file yet.
    case empty
    /// All pods. Only reads of the same run have used the file before.
    case filled
    /// All pods, in a copy that may be changed.
    case copy
    /// All to-do items.
    case filledWithItems
  }

  var start: Start {
    switch self {
    case .insert, .insertItems, .insertMemory, .importMembers, .importCodable: .empty
    case .upsert, .updateBool, .deleteIn, .deleteDates, .singleInserts, .taskInserts, .gets,
      .getsBesideWriter, .openClose, .asyncWrite:
      .copy
    case .itemsByDate, .itemFileSize: .filledWithItems
    default: .filled
    }
  }

  /// The unit of the figure.
  enum Unit: String {
    /// The sides are compared by processor time; elapsed time is shown too.
    case processorTime = "CPU seconds"
    /// Elapsed time: for an operation that waits for the disk or runs concurrently with another.
    case wallTime = "seconds"
    case bytes
    case microseconds
  }

  var unit: Unit {
    switch self {
    case .singleInserts, .taskInserts, .gets, .getsBesideWriter, .importMembers, .importCodable:
      .wallTime
    case .fileSize, .itemFileSize, .insertMemory: .bytes
    case .asyncRead, .asyncWrite: .microseconds
    default: .processorTime
    }
  }

  /// Whether the pods in the store after the operation are compared too, in the order of their ids.
  var leavesTheSame: Bool {
    switch self {
    case .insert, .upsert, .updateBool, .deleteIn, .deleteDates: true
    default: false
    }
  }

  /// Whether the operation writes a file, so that part of its time is the kernel's copying of
  /// pages.
  var changesFile: Bool { start == .empty || start == .copy }

  /// Whether the operation's instructions are counted.
  ///
  /// Instructions do not show the cost of waiting, and callgrind runs one thread at a time.
  var countsInstructions: Bool { unit == .processorTime && self != .openClose }

  func title(_ amounts: Amounts) -> String {
    switch self {
    case .insert: "batch insert of \(amounts.records.grouped)"
    case .upsert: "upsert by unique key, half changed"
    case .updateBool: "batch update of a Bool"
    case .deleteIn: "batch delete of \(amounts.inNames.grouped) by IN"
    case .deleteDates: "batch delete of 10 % by date"
    case .singleInserts: "\(amounts.singleInserts.grouped) durable single inserts"
    case .taskInserts: "\(amounts.taskInserts.grouped) of them from 64 tasks"
    case .insertItems: "insert of \(amounts.records.grouped) to-do items"
    case .getUnique: "get by unique key, \(amounts.gets.grouped)"
    case .getID: "get by id, \(amounts.gets.grouped)"
    case .multiGet: "one get of \(amounts.multiKeys.grouped) keys"
    case .fetchAll: "fetch all, decoded"
    case .fetchAsync: "the same by await, with progress"
    case .fetchBatches: "the same in batches of \(Amounts.batch)"
    case .fetchTwo: "fetch all, two fields touched"
    case .dateRanges: "100 date ranges of 1 %, decoded"
    case .itemsByDate: "all to-do items by indexed date"
    case .scanNumbers: "filter scan of two numbers, count"
    case .scanText: "filter scan of one text, count"
    case .countDates: "count of 10 % by index"
    case .idsIn: "ids of \(amounts.inNames.grouped) by IN"
    case .namesIn: "\(amounts.inNames.grouped) by IN, decoded"
    case .top: "top 50 by a non-indexed attribute"
    case .firstPages: "1,000 first pages of 50 by date"
    case .plans: "1,000 plans of 3 clauses"
    case .gets: "\(amounts.singleGets.grouped) gets, a transaction each"
    case .getsBesideWriter: "the same beside a writer"
    case .openClose: "100 times open and close"
    case .importMembers: "import of JSON, by members"
    case .importCodable: "import of JSON, by Codable"
    case .fileSize: "file after the insert"
    case .itemFileSize: "file of to-do items"
    case .insertMemory: "memory beyond the map, insert"
    case .asyncRead: "async read beyond the direct one"
    case .asyncWrite: "async write beyond the direct one"
    }
  }
}

/// The numbers of calls and records of the operations.
struct Amounts {
  let records: Int

  var gets: Int { records / 5 }
  /// The number of gets in separate transactions.
  var singleGets: Int { records / 20 }
  var multiKeys: Int { records / 100 }
  var inNames: Int { records / 20 }
  var singleInserts: Int { min(500, records / 1_000) }
  var taskInserts: Int { min(2_000, records / 250) }
  static let tasks = 64
  static let firstPages = 1_000
  static let openings = 100
  static let calls = 20_000
  /// The number of records in each batch of an operation that writes several batches.
  static let batch = 500
}
