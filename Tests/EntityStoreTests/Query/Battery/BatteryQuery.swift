/// One query of the battery.
struct BatteryQuery: Sendable, CustomStringConvertible {
  /// The requested form of the answer.
  enum Answer: Sendable {
    /// The records, each with a number that is read from it.
    case rows
    case ids
    case count
    /// Groups by an attribute, with their counts, and optionally with sums of another attribute.
    case groups(String, sum: String?)
    case distinct(String)
    case minimum(String)
    case maximum(String)
    case sum(String)
    case average(String)
  }

  struct Term: Sendable {
    let name: String
    let isDescending: Bool
  }

  /// The queried entity; both have the same attribute names in both stores.
  enum Subject: String, Sendable, CaseIterable {
    case sighting = "Sighting"
    case broad = "Broad"
  }

  var subject = Subject.sighting
  var condition = BatteryCondition.all([])
  var order: [Term] = []
  var limit: Int?
  var offset = 0
  var answer = Answer.rows

  /// - Parameter order: names separated by commas, descending with `-` before.
  init(
    _ answer: Answer = .rows, _ condition: BatteryCondition = .all([]), order: String = "",
    limit: Int? = nil, offset: Int = 0, of subject: Subject = .sighting
  ) {
    self.subject = subject
    self.condition = condition
    self.order = order.split(separator: ",").map {
      let isDescending = $0.first == "-"
      return Term(name: String(isDescending ? $0.dropFirst() : $0), isDescending: isDescending)
    }
    self.limit = limit
    self.offset = offset
    self.answer = answer
  }

  /// Whether records with equal keys are in descending order of their ids.
  var isTieDescending: Bool { order.last?.isDescending ?? false }

  /// Whether the answer depends on the order of the results.
  var isOrdered: Bool { !order.isEmpty || limit != nil || offset > 0 }

  /// The number of records that must be found, including skipped ones; `nil` without a limit.
  var wantedCount: Int? { limit.map { $0 + offset } }

  /// The attributes that the answer contains; `nil` for whole records.
  var answerNames: [String]? {
    switch answer {
    case .rows: nil
    case .ids, .count: []
    case .groups(let name, let sum): [name] + (sum.map { [$0] } ?? [])
    case .distinct(let name), .minimum(let name), .maximum(let name), .sum(let name),
      .average(let name):
      [name]
    }
  }

  var description: String {
    let what =
      switch answer {
      case .rows: "rows"
      case .ids: "ids"
      case .count: "count"
      case .groups(let name, let sum): "by \(name)" + (sum.map { ": sum \($0)" } ?? "")
      case .distinct(let name): "distinct \(name)"
      case .minimum(let name): "min \(name)"
      case .maximum(let name): "max \(name)"
      case .sum(let name): "sum \(name)"
      case .average(let name): "avg \(name)"
      }
    var text = "\(what) of \(subject.rawValue)"
    let format = condition.format
    if format != "TRUEPREDICATE" {
      text += " where " + (format.count > 140 ? format.prefix(120) + "…" : format)
    }
    if !order.isEmpty {
      text +=
        " by " + order.map { ($0.isDescending ? "-" : "") + $0.name }.joined(separator: ",")
    }
    if let limit { text += " limit \(limit)" }
    if offset > 0 { text += " offset \(offset)" }
    return text
  }
}

/// The results as numbers, which are the same for equal answers.
struct BatteryAnswer: Hashable, Sendable {
  var count = 0
  var checksum: UInt64 = 0

  /// A record with a number that was read from it.
  mutating func add(id: UInt64, _ number: UInt64 = 0, isOrdered: Bool) {
    count += 1
    checksum = isOrdered ? checksum &* 31 &+ id &+ number : checksum &+ id &* 31 &+ number
  }

  /// A group or a value, in any order.
  mutating func add(key: UInt64, count groupCount: Int = 0, sum: Int = 0) {
    count += 1
    checksum &+=
      (key ^ key >> 29) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(groupCount) &* 31
      &+ UInt64(bitPattern: Int64(sum))
  }

  static let nullKey: UInt64 = 0x6E75_6C6C

  static func key(_ number: Int) -> UInt64 { UInt64(bitPattern: Int64(number)) }

  /// The quarters: sums of these are exact.
  static func key(_ number: Double) -> UInt64 {
    UInt64(bitPattern: Int64((number * 1_024).rounded()))
  }

  static func key<Bytes: Sequence<UInt8>>(utf8 bytes: Bytes) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
