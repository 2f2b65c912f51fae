/// The reason why a command failed: a message for people, a code for programs, and the exit status.
///
/// Every failure is created in `CommandFailure+Catalogue.swift`, so that all messages can be
/// proofread together.
package struct CommandFailure: Error, Equatable, Sendable {
  /// A further fact for programs: a member of the error object.
  package struct Detail: Equatable, Sendable {
    let name: String
    let value: Cell

    package init(name: String, value: Cell) {
      self.name = name
      self.value = value
    }

    static func text(_ name: String, _ text: String) -> Detail {
      Detail(name: name, value: .text(text))
    }
  }

  /// The code by which programs distinguish failures, such as `no-such-entity`.
  ///
  /// The code is part of the JSON contract.
  package let code: String
  /// The message "thing: reason; next step", in one line without a full stop.
  package var message: String
  package let status: ExitStatus
  var details: [Detail] = []
  /// Lines below the message that show people the place of the fault.
  ///
  /// Programs get `details` in place of these lines.
  var excerpt: [String] = []

  package init(
    code: String, message: String, status: ExitStatus, details: [Detail] = [],
    excerpt: [String] = []
  ) {
    self.code = code
    self.message = message
    self.status = status
    self.details = details
    self.excerpt = excerpt
  }

  /// Whether the failure is not reported, because the reader of the pipe closed it on purpose.
  var isSilent: Bool { status == .brokenPipe }

  /// The line for people on standard error, without a line end.
  var line: String { "kvdump: " + DisplayText.escaped(message) }

  /// The object for programs on standard error, without a line end.
  var json: String {
    var members = [("code", Cell.text(code)), ("message", .text(message))]
    members += details.map { ($0.name, $0.value) }
    members.append(("status", .integer(Int64(status.rawValue))))
    return CellJSON.object([("error", .json(CellJSON.object(members)))])
  }
}

extension CommandFailure: CustomStringConvertible {
  /// The message, which a store keeps for an import that failed.
  package var description: String { message }
}
