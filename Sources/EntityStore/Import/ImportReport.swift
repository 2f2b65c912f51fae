/// What an import did.
public struct ImportReport: Sendable, Codable, Hashable {
  /// A record that was not imported.
  public struct Reject: Sendable, Codable, Hashable {
    /// The number of the page, from 1.
    public var page: Int
    /// The number of the record in its page, from 1.
    public var record: Int
    /// Where the record, or what is wrong in it, begins in the page, in bytes; `nil` when the page
    /// did not come as bytes.
    public var byteOffset: Int?
    /// Why.
    public var reason: String

    /// A reject.
    public init(page: Int, record: Int, byteOffset: Int?, reason: String) {
      self.page = page
      self.record = record
      self.byteOffset = byteOffset
      self.reason = reason
    }
  }

  /// Pages that were committed.
  public var pages = 0
  /// Records that are new.
  public var inserted = 0
  /// Stored records that have other values now.
  public var updated = 0
  /// Stored records that had these values already.
  public var unchanged = 0
  /// Records that were left out because the store has them, as asked.
  public var ignored = 0
  /// Records that were not imported, and why.
  public var rejects: [Reject] = []
  /// How many records were not imported; more than ``rejects`` holds when there are very many.
  public var rejected = 0
  /// Seconds from the first page to the last commit.
  public var seconds = 0.0

  /// The most rejects that a report keeps with their reasons.
  public static let longestRejectList = 10_000

  /// An empty report.
  public init() {}

  mutating func reject(_ reject: Reject) {
    rejected += 1
    if rejects.count < Self.longestRejectList { rejects.append(reject) }
  }
}

extension ImportReport: CustomStringConvertible {
  /// One line, and the first reject.
  public var description: String {
    var text = "\(inserted) inserted, \(updated) updated, \(unchanged) unchanged, "
    if ignored > 0 { text += "\(ignored) ignored, " }
    text += "\(rejected) rejected"
    if let first = rejects.first {
      text += " (page \(first.page) record \(first.record): \(first.reason)"
      text += rejected > 1 ? "; …)" : ")"
    }
    return text
  }
}
