import Foundation
import HTTPTypes
import Hummingbird
import Lodestore

/// The answer to a read: a value, or a note that the client already has it.
struct ConditionalAnswer<Value: Sendable>: Sendable {
  let tag: EntityTag
  /// `nil` if the client already has the value.
  let value: Value?

  func response(
    _ content: (Value, inout HTTPFields) throws -> some Encodable
  ) throws -> Response {
    // Caches may store the answer, but must ask each time whether it is still valid.
    var headers: HTTPFields = [.eTag: tag.description, .cacheControl: "no-cache"]
    guard let value else { return Response(status: .notModified, headers: headers) }
    let content = try content(value, &headers)
    return try .json(content, headers: headers)
  }
}

extension Snapshot {
  /// Returns the value of `read`, or no value if the client already has the state with this tag.
  borrowing func answer<Value>(
    _ conditions: Preconditions, tag: EntityTag, _ read: (borrowing Snapshot) throws -> Value
  ) throws -> ConditionalAnswer<Value> {
    ConditionalAnswer(tag: tag, value: conditions.isNotModified(tag) ? nil : try read(self))
  }
}

extension Date {
  /// The date in the format of HTTP header fields: `Tue, 15 Nov 1994 08:12:31 GMT`.
  var httpDate: String {
    var seconds = time_t(timeIntervalSince1970)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
    return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
      + "\(parts.tm_year + 1900) \(time) GMT"
  }
}
