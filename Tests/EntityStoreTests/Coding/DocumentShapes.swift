import Foundation

/// Types of every form that `Codable` has, for the tests of documents.
enum Shapes {
  struct Scalars: Codable, Equatable {
    var zulu = true
    var text = "Ångström \u{0}\n🙂"
    var int8 = Int8.min
    var int16 = Int16.min
    var int32 = Int32.min
    var int64 = Int64.min
    var int = Int.max
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64.max
    var uint = UInt.max
    var float: Float = 0.1
    var double = 0.1
  }

  struct Times: Codable, Equatable {
    var created = Date(timeIntervalSinceReferenceDate: 123_456_789.125)
    var id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var body = Data([0, 255, 7])
    var page = URL(string: "https://example.org/a?b=c#d")
    var price = Decimal(string: "-1234567890.0123456789")
    var pages = [URL(string: "https://example.org/1"), nil]
    var dates = [Date(timeIntervalSinceReferenceDate: 0)]
  }

  struct Optionals: Codable, Equatable {
    var present: Int? = 1
    var absent: Int?
    var text: String? = ""
    var flag: Bool?
    var small: UInt8? = 200
    var wide: Double? = 2.5
    var narrow: Float? = 1.5
    var inner: Empty?
    var list: [Int?] = [1, nil, 3]
    var deep: [String: Int?] = ["a": nil, "b": 2]
    var date: Date?
  }

  struct Empty: Codable, Equatable, Hashable {}

  struct Lists: Codable, Equatable {
    var texts = ["b", "a", ""]
    var none: [String] = []
    var numbers = [1, -1, .max, .min]
    var doubles = [0.5, -0.0, .greatestFiniteMagnitude]
    var flags = [true, false]
    var bytes: [UInt8] = [1, 2, 255]
    var matrix = [[1, 2], [], [3]]
    var values = [Empty(), Empty()]
    var words: Set<String> = ["one"]
  }

  enum Color: String, Codable, CaseIterable { case red, green, blue }
  enum Level: Int, Codable { case low = -1, high = 1 }
  enum Keyed: String, Codable, CodingKeyRepresentable { case z, a, m }

  struct Dictionaries: Codable, Equatable {
    var texts = ["z": "1", "a": "2", "é": "3", "": "4", "aa": "5"]
    var numbers = ["x": 1, "y": 2]
    var doubles = ["x": 1.5]
    var flags = ["f": false]
    var lists = ["l": ["1", "2"], "k": []]
    var nested = ["o": ["i": [1: "one"]]]
    var byInteger = [10: "ten", 9: "nine", -1: "minus"]
    var byColor = [Color.red: 1]
    var byKey = [Keyed.z: 1, .a: 2, .m: 3]
    var structs = ["b": Empty(), "a": Empty()]
    var byStruct = [Empty(): 1]
  }

  indirect enum Tree: Codable, Equatable {
    case leaf
    case value(Int)
    case named(label: String, children: [Tree])
    case pair(Tree, right: Tree?)
  }

  struct Wrapped<Value: Codable & Equatable>: Codable, Equatable, RawRepresentable {
    var rawValue: Value
  }

  struct Enums: Codable, Equatable {
    var color = Color.blue
    var colors = Color.allCases
    var level = Level.low
    var tree = Tree.named(
      label: "root",
      children: [.leaf, .value(3), .pair(.leaf, right: nil), .pair(.leaf, right: .leaf)])
    var range = 1...5
    var result: Bool? = .some(true)
    var wrapped = Wrapped(rawValue: [1, 2])
  }

  class Animal: Codable, Equatable {
    var name = "cat"
    var legs = 4

    init() {}

    static func == (a: Animal, b: Animal) -> Bool {
      type(of: a) == type(of: b) && a.name == b.name && a.legs == b.legs
        && (a as? Pet)?.owner == (b as? Pet)?.owner && (a as? Stray)?.area == (b as? Stray)?.area
    }
  }

  /// A class that encodes its superclass under the key "super".
  final class Pet: Animal {
    enum CodingKeys: CodingKey { case owner }
    var owner = "Zoe"

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      owner = try container.decode(String.self, forKey: .owner)
      try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try super.encode(to: container.superEncoder())
      try container.encode(owner, forKey: .owner)
    }
  }

  /// A class that encodes its members into the object of its superclass.
  final class Stray: Animal {
    enum CodingKeys: CodingKey { case area }
    var area = "harbour"

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      area = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .area)
      try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(area, forKey: .area)
      try super.encode(to: encoder)
    }
  }

  /// A type that fills nested containers alternately and out of order.
  struct Interleaved: Codable, Equatable {
    enum Keys: CodingKey { case zero, list, inner, alpha }
    enum InnerKeys: CodingKey { case b, a, more }
    var zero = 0
    var list = [1, 2]
    var a = "a"
    var b = "b"
    var more = [true, false]
    var alpha: Int? = 5

    init() {}

    init(from decoder: any Decoder) throws {
      let outer = try decoder.container(keyedBy: Keys.self)
      let inner = try outer.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
      a = try inner.decode(String.self, forKey: .a)
      var flags = try inner.nestedUnkeyedContainer(forKey: .more)
      more = []
      while !flags.isAtEnd { more.append(try flags.decode(Bool.self)) }
      b = try inner.decode(String.self, forKey: .b)
      zero = try outer.decode(Int.self, forKey: .zero)
      var rows = try outer.nestedUnkeyedContainer(forKey: .list)
      list = []
      while !rows.isAtEnd {
        var row = try rows.nestedUnkeyedContainer()
        list.append(try row.decode(Int.self))
        _ = try rows.nestedContainer(keyedBy: InnerKeys.self)
      }
      alpha = try outer.decodeNil(forKey: .alpha) ? nil : outer.decode(Int.self, forKey: .alpha)
    }

    func encode(to encoder: any Encoder) throws {
      var outer = encoder.container(keyedBy: Keys.self)
      try outer.encode(zero, forKey: .zero)
      var inner = outer.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
      var rows = outer.nestedUnkeyedContainer(forKey: .list)
      try inner.encode(b, forKey: .b)
      var flags = inner.nestedUnkeyedContainer(forKey: .more)
      for number in list {
        var row = rows.nestedUnkeyedContainer()
        _ = rows.nestedContainer(keyedBy: InnerKeys.self)
        try row.encode(number)
      }
      for flag in more { try flags.encode(flag) }
      try inner.encode(a, forKey: .a)
      var again = outer.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
      try again.encode(a, forKey: .a)
      if let alpha {
        try outer.encode(alpha, forKey: .alpha)
      } else {
        try outer.encodeNil(forKey: .alpha)
      }
    }
  }

  /// An array with values of several types, one of which is encoded as a superclass.
  struct Mixed: Codable, Equatable {
    var number = 7
    var text = "seven"
    var animal = Animal()
    var inner = Optionals()

    init() {}

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      number = try list.decode(Int.self)
      guard try list.decodeNil() else { throw CocoaError(.coderInvalidValue) }
      text = try list.decode(String.self)
      animal = try Animal(from: list.superDecoder())
      inner = try list.decode(Optionals.self)
    }

    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      try list.encode(number)
      try list.encodeNil()
      try list.encode(text)
      try animal.encode(to: list.superEncoder())
      try list.encode(inner)
    }
  }

  /// A type that catches the failure of a member and continues.
  struct Forgiving: Codable, Equatable {
    enum Keys: CodingKey { case good, bad, last }
    struct Failing: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(1)
        throw CocoaError(.coderInvalidValue)
      }
    }
    var good = 1
    var last = "end"

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      good = try container.decode(Int.self, forKey: .good)
      last = try container.decode(String.self, forKey: .last)
      if container.contains(.bad) { throw CocoaError(.coderInvalidValue) }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(good, forKey: .good)
      try? container.encode([Failing()], forKey: .bad)
      try container.encode(last, forKey: .last)
    }
  }
}
