import Foundation
import HTTPTypes
import Hummingbird
import Lodestore

/// The reason for refusing a request, in the form of RFC 9457.
///
///     {"type": "urn:problem:unknown-parameter", "status": 400, "title": "Unknown parameter",
///      "detail": "There is no parameter \"licence\". Use one of: after, license, …",
///      "parameter": "licence"}
public struct Problem: HTTPResponseError, Encodable {
  /// The kind of the problem, for programs.
  public var type: String
  /// The status of the answer.
  public var status: HTTPResponse.Status
  /// The kind of the problem, for people.
  public var title: String
  /// The fault, and the next step.
  public var detail: String
  /// The wrong parameter of the query.
  public var parameter: String?
  /// The wrong member of the body, as a JSON pointer.
  public var pointer: String?
  /// The reasons for which values were refused, if there is more than one.
  public var violations: [String]?
  /// The number of seconds to wait before sending the request again.
  var retryAfter: Int?

  private enum CodingKeys: CodingKey {
    case type, status, title, detail, parameter, pointer, violations
  }

  init(_ status: HTTPResponse.Status, _ title: String, _ detail: String) {
    let name = title.lowercased().replacing(" ", with: "-")
    (self.type, self.status) = ("urn:problem:\(name)", status)
    (self.title, self.detail) = (title, detail)
  }

  func with(_ change: (inout Problem) -> Void) -> Problem {
    var problem = self
    change(&problem)
    return problem
  }
}

// MARK: Kinds

extension Problem {
  static func unknownParameter(_ name: String, allowed: [String]) -> Problem {
    Problem(
      .badRequest, "Unknown parameter",
      "There is no parameter \"\(name)\". Use one of: \(allowed.joined(separator: ", "))."
    ).with { $0.parameter = name }
  }

  static func badParameter(_ name: String, _ detail: String) -> Problem {
    Problem(.badRequest, "Bad parameter", detail).with { $0.parameter = name }
  }

  static func notFound(_ detail: String) -> Problem { Problem(.notFound, "Not found", detail) }

  /// The problem of a body that is not JSON or has the wrong form.
  static func badBody(_ error: DecodingError) -> Problem {
    let context: DecodingError.Context? =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .keyNotFound(_, let context), .dataCorrupted(let context):
        context
      @unknown default: nil
      }
    let path = context?.codingPath.map { "/" + ($0.intValue.map(String.init) ?? $0.stringValue) }
    return Problem(
      .badRequest, "Bad body",
      "The body is not a podspec as JSON: \(context?.debugDescription ?? "\(error)") "
        + "Send an object with summary, homepage, license, authors, platforms, dependencies."
    ).with { $0.pointer = path?.joined() }
  }

  /// Makes the problem of a store's error; `nil` if the client is not at fault.
  init?(_ error: StoreError) {
    switch error.code {
    case .invalidValue, .uniqueViolation, .unstorableValue:
      self.init(.unprocessableContent, "Invalid value", error.message)
      if !error.violations.isEmpty { violations = error.violations.map { "\($0)" } }
    case .invalidQuery:
      self.init(.badRequest, "Bad query", error.message)
    case .busy, .closed:
      self.init(.serviceUnavailable, "Busy", "The store is busy or closing. Try again.")
      retryAfter = 1
    case .diskFull, .mapFull:
      self.init(
        .init(code: 507, reasonPhrase: "Insufficient Storage"), "Insufficient storage",
        "The disk of the server is full. Nothing was written; reads go on.")
    default: return nil
    }
  }
}

// MARK: Answer

extension Problem {
  /// Writes the members of RFC 9457, and the members that name the wrong part of the request.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(type, forKey: .type)
    try members.encode(status.code, forKey: .status)
    try members.encode(title, forKey: .title)
    try members.encode(detail, forKey: .detail)
    try members.encodeIfPresent(parameter, forKey: .parameter)
    try members.encodeIfPresent(pointer, forKey: .pointer)
    try members.encodeIfPresent(violations, forKey: .violations)
  }

  /// The problem as a response.
  public func response(from request: Request, context: some RequestContext) throws -> Response {
    var response = try Response.json(self, status: status)
    response.headers[.contentType] = "application/problem+json"
    if let retryAfter { response.headers[.retryAfter] = "\(retryAfter)" }
    return response
  }
}
