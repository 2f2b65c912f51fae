import LodestoreBytes
import LodestoreFormat
import Testing

/// The pair of the tree `seal`.
@Suite struct SealDescriptionTests {
  private static func example() throws -> SealDescription {
    let digest = (0..<16).map { UInt8($0) }._withBytes { ContentDigest(bytes: $0) }
    return SealDescription(
      name: "pods", generation: 7, dataAsOf: 0.5, sealedAt: 1.5, schema: (0..<32).map { UInt8($0) },
      header: (32..<64).map { UInt8($0) },
      counts: ["Pod": 2], digest: try #require(digest))
  }

  @Test func `the example of the document holds`() throws {
    let line = try #require(FormatExamples.lines("seal").first)
    let sides = line.right.split(separator: ":")
    try #require(sides.count == 2)
    let seal = try Self.example()
    #expect(bytes(hexadecimal: String(sides[0])) == SealDescription.key)
    #expect(bytes(hexadecimal: String(sides[1])) == seal.body)
    #expect(try seal.body._withBytes { try SealDescription(body: $0) } == seal)
  }

  @Test func `members of a seal out of their ranges are refused`() throws {
    let changes: [(inout SealDescription) -> Void] = [
      { $0.name = "" }, { $0.name = "a/b" }, { $0.generation = 0 }, { $0.dataAsOf = .infinity },
      { $0.sealedAt = .nan }, { $0.schema = [1] },
      { $0.header = [] },
    ]
    for change in changes {
      var seal = try Self.example()
      change(&seal)
      let error = #expect(throws: FormatError.self) {
        try seal.body._withBytes { try SealDescription(body: $0) }
      }
      #expect(error?.rule == .sealMembers)
    }
  }

  @Test func `no damaged or cut seal is accepted`() throws {
    let body = try Self.example().body
    for index in body.indices {
      var damaged = body
      damaged[index] ^= 0x20
      #expect(throws: FormatError.self) {
        try damaged._withBytes { try SealDescription(body: $0) }
      }
      #expect(throws: FormatError.self) {
        try body[..<index]._withBytes { try SealDescription(body: $0) }
      }
    }
  }

  @Test(arguments: [
    ("a", true), ("pods.v2-x_1", true), ("0", true), (String(repeating: "a", count: 64), true),
    (String(repeating: "a", count: 65), false), ("", false), ("-a", false), (".", false),
    ("a b", false), ("a/b", false), ("ä", false),
  ])
  func `the name of a seal is valid in files and addresses`(name: String, isValid: Bool) {
    #expect(SealDescription.isValidName(name) == isValid)
  }
}
