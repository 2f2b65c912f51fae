/// A page that contradicts the page referring to it.
package struct PageError: Error, Equatable, Sendable, CustomStringConvertible {
  package var page: UInt64
  /// The fault of the page, as a clause.
  package var reason: String

  package init(page: UInt64, _ reason: String) {
    self.page = page
    self.reason = reason
  }

  package var description: String { "page \(page): \(reason)" }
}
