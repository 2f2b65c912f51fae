/// Why a command stopped: what a person reads, what a program reads, and the exit status.
///
/// Every failure is built in `CommandFailure+Catalogue.swift`, so that all messages can be
/// proofread in one sitting.
package struct CommandFailure: Error, Equatable, Sendable {
  /// A fact beside the message, for programs: a member of the error object.
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

  /// What programs tell failures apart by; part of the JSON contract, such as `no-such-entity`.
  package let code: String
  /// "thing: reason; next step", one line, no full stop.
  package var message: String
  package let status: ExitStatus
  var details: [Detail] = []
  /// Lines that show people where the fault is, below the message; programs have `details`.
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

  /// True for the failure that nobody is to be told of: the reader of the pipe has gone, by choice.
  var isSilent: Bool { status == .brokenPipe }

  /// The line for people, on standard error, without a line end.
  var line: String { "kvdump: " + DisplayText.escaped(message) }

  /// The object for programs, on standard error, without a line end.
  var json: String {
    var members = [("code", Cell.text(code)), ("message", .text(message))]
    members += details.map { ($0.name, $0.value) }
    members.append(("status", .integer(Int64(status.rawValue))))
    return JSONText.object([("error", .json(JSONText.object(members)))])
  }
}

extension CommandFailure: CustomStringConvertible {
  /// The message: what a store keeps of an import that failed.
  package var description: String { message }
}
