/// The body of an entry, and the facts about it for the head.
package struct PackBody: Sendable, Equatable {
  package let bytes: [UInt8]
  package let changeCount: UInt64
  package let stepCount: UInt64
  package let unpackedLength: UInt64

  package static let empty = PackBody(bytes: [], changeCount: 0, stepCount: 0, unpackedLength: 0)
}
