import LodestoreFormat
import Testing

/// The description of an entity whose one attribute is `attribute`.
func entityDocument(_ attribute: Document) -> Document {
  .object([
    "name": .string("E"), "layout": .integer(1), "attributes": .array([attribute]),
    "layouts": .array([
      .object([
        "number": .integer(1),
        "attributes": .array([
          .object([
            "number": attribute["number"] ?? .null, "type": attribute["type"] ?? .null,
            "optional": attribute["optional"] ?? .null,
          ])
        ]),
      ])
    ]),
    "indexes": .array([]),
  ])
}

/// An attribute object of `type` with more `members`.
private func attribute(_ type: AttributeType, _ members: [String: Document]) -> Document {
  let common: [String: Document] = [
    "number": .integer(1), "name": .string("a"), "type": .string(type.name),
    "optional": .bool(true),
  ]
  return .object(common.merging(members) { _, new in new })
}

@Suite struct AttributeConstraintsTests {
  private func constraints(
    _ type: AttributeType, _ members: [String: Document]
  ) throws -> AttributeConstraints {
    let document = entityDocument(attribute(type, members))
    let entity = try EntityDescription(number: 1, document: document)
    #expect(entity.document == document)
    return try #require(entity.attributes.first).constraints
  }

  @Test func `ranges of every ordered type are read and written unchanged`() throws {
    let small = DecimalValue(isNegative: true, exponent: -2, significand: 25)
    let large = DecimalValue(isNegative: false, exponent: 3, significand: 1)
    for type in AttributeType.allCases where type.hasOrder {
      let (minimum, maximum): (Document, Document) =
        switch type {
        case .float, .double: (.double(-0.5), .double(.infinity))
        case .date: (.date(-1), .date(1.5))
        case .decimal: (.decimal(small), .decimal(large))
        case .uint64: (.integer(0), .unsigned(.max))
        default: (.integer(0), .integer(100))
        }
      let both = try constraints(type, ["minimum": minimum, "maximum": maximum])
      #expect(both.hasRange && !both.hasLength && both.pattern == nil, "\(type)")
      #expect(try constraints(type, ["minimum": minimum]).maximum == .null, "\(type)")
      #expect(try constraints(type, ["maximum": maximum]).minimum == .null, "\(type)")
      #expect(try constraints(type, ["minimum": maximum, "maximum": maximum]).hasRange, "\(type)")
      #expect(throws: FormatError.self, "\(type)") {
        try constraints(type, ["minimum": maximum, "maximum": minimum])
      }
    }
  }

  @Test func `lengths and patterns are read and written unchanged`() throws {
    for type in AttributeType.allCases where type.hasLength {
      let both = try constraints(type, ["minLength": .integer(0), "maxLength": .integer(.max)])
      #expect(both.minLength == 0 && both.maxLength == .max && !both.hasRange)
      #expect(try constraints(type, ["maxLength": .integer(7)]).minLength == nil)
    }
    #expect(try constraints(.string, ["pattern": .string("[a-z]+")]).pattern == "[a-z]+")
    #expect(try constraints(.string, ["pattern": .string("")]).isEmpty == false)
    #expect(try constraints(.json, [:]).isEmpty)
  }

  @Test func `hostile constraints are refused`() {
    let cases: [(AttributeType, [String: Document])] = [
      (.string, ["minimum": .string("a")]), (.bool, ["maximum": .bool(true)]),
      (.json, ["minimum": .integer(1)]), (.uuid, ["minLength": .integer(1)]),
      (.int64, ["maxLength": .integer(1)]), (.url, ["pattern": .string("a")]),
      (.data, ["pattern": .string("a")]), (.int64, ["pattern": .string("a")]),
      (.int8, ["maximum": .integer(128)]), (.uint8, ["minimum": .integer(-1)]),
      (.int64, ["maximum": .unsigned(.max)]), (.int64, ["minimum": .double(1)]),
      (.double, ["minimum": .integer(1)]), (.date, ["minimum": .double(1)]),
      (.float, ["minimum": .double(0.1)]), (.int64, ["minimum": .array([])]),
      (.double, ["minimum": .double(.nan)]), (.date, ["maximum": .date(.nan)]),
      (.decimal, ["maximum": .decimal(.nan)]),
      (.string, ["minLength": .integer(2), "maxLength": .integer(1)]),
      (.string, ["minLength": .integer(-1)]), (.string, ["maxLength": .unsigned(.max)]),
      (.string, ["maxLength": .double(1)]), (.string, ["maxLength": .null]),
      (.string, ["pattern": .integer(1)]), (.string, ["pattern": .null]),
    ]
    for (type, members) in cases {
      #expect(throws: FormatError.self, "\(type) \(members)") {
        try EntityDescription(
          number: 1, document: entityDocument(attribute(type, members)))
      }
    }
  }

  @Test func `bounds are within the range, and not-a-number is in no range`() {
    var range = AttributeConstraints()
    range.minimum = .double(0)
    range.maximum = .double(5)
    for value in [-0.0, 0, 2.5, 5] { #expect(range.breach(of: .double(value)) == nil) }
    #expect(range.breach(of: .double(-.leastNonzeroMagnitude)) == .tooLow)
    #expect(range.breach(of: .double(5.000_000_000_000_001)) == .tooHigh)
    #expect(range.breach(of: .double(.nan)) == .notANumber)
    range.maximum = .null
    #expect(range.breach(of: .double(.infinity)) == nil)
    #expect(range.breach(of: .double(.nan)) == .notANumber)
    range.minimum = .unsigned(.max)
    #expect(range.breach(of: .integer(.max)) == .tooLow)
    #expect(range.breach(of: .unsigned(.max)) == nil)
  }
}
