#if Macros
  import Lodestore

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// One property of every type that can be an attribute, each also as an optional.
  @Entity
  struct Specimen: Equatable {
    enum Kind: String { case rock, mineral }
    enum Grade: UInt8 { case low = 1, high = 200 }
    struct Place: Codable, Hashable {
      var latitude: Double
      var names: [String]
    }

    var bool: Bool
    var int: Int
    var int8: Int8
    var int16: Int16
    var int32: Int32
    var int64: Int64
    var uint: UInt
    var uint8: UInt8
    var uint16: UInt16
    var uint32: UInt32
    var uint64: UInt64
    var float: Float
    var double: Double
    var string: String
    var data: Data
    var date: Date
    var uuid: UUID
    var url: URL
    var decimal: Decimal
    var kind: Kind
    var grade: Grade
    var json: JSONValue
    var place: Place
    var list: [Int]
    var table: [String: [Date]]

    var optionalBool: Bool?
    var optionalInt: Int?
    var optionalUInt64: UInt64?
    var optionalFloat: Float?
    var optionalDouble: Double?
    var optionalString: String?
    var optionalData: Data?
    var optionalDate: Date?
    var optionalUUID: UUID?
    var optionalURL: URL?
    var optionalDecimal: Decimal?
    var optionalKind: Kind?
    var optionalGrade: Grade?
    var optionalJSON: JSONValue?
    var optionalPlace: Place?
    var optionalList: [Int]?
    var optionalTable: [String: Int]?
  }

  /// An entity that uses every option for attributes.
  @Entity(name: "pod")
  public struct Pod {
    #Unique<Pod>([\.name, \.version])
    #Index<Pod>([\.updatedAt], [\.stars, \.name])

    /// An enumeration that declares the conformance to `IndexableValue` itself.
    public enum License: String, Sendable, IndexableValue { case mit, bsd }

    /// Part of the unique key.
    public var name: String
    /// A constant without a value is read like a variable.
    public let version: String
    @Attribute(.unique, originalName: "homepage") var site: String?
    var license: License = .mit
    var stars: Int = 0 {
      didSet { starsChanges += 1 }
    }
    var first, second: Int
    /// The property's name is a keyword, and its setter is not public.
    public private(set) var `default`: Bool = true
    var updatedAt: Date
    private var secret: [String] = ["a"]
    @Transient var starsChanges = 0
    static let limit = 10
    var title: String { "\(name) \(version)" }

    /// Calls the memberwise initializer, which is private because `secret` is private.
    static func make(name: String) -> Pod {
      Pod(
        name: name, version: "1", license: .bsd, first: 1, second: 2,
        updatedAt: Date(timeIntervalSinceReferenceDate: 3))
    }

    mutating func keep(_ secret: String) { self.secret.append(secret) }
    var secretCount: Int { secret.count }
  }

  /// The memberwise initializer has a parameter for each declared property.
  @Entity
  struct Song: Equatable {
    #Index<Song>([\.title])

    let title: String
    var first, second: Int
    var `default`: Bool = true
    var playCount: Int = 0 {
      didSet { playCountChanges += 1 }
    }
    @Transient var playCountChanges = 0
    private var note: String
    @Transient var isSelected: Bool?
    var length: Double { Double(first) / Double(second) }

    static func make() -> Song {
      Song(title: "A", first: 1, second: 2, default: false, playCount: 3, note: "c")
    }
  }

  /// Defaults of every kind, in an entity that is private to its file.
  @Entity
  private struct Defaults {
    enum Level: Int { case low, high }

    var string: String = "a"
    var negative: Int = -1
    var level: Level = .high
    var optionalLevel: Level? = .high
    var optional: String? = "b"
    var list: [Int] = [1, 2]
    var decimal: Decimal = Decimal(5)
    var date: Date = Date(timeIntervalSinceReferenceDate: 1)
    var fresh: Date = Date()
    var nothing: Int? = nil
  }

  enum Model {
    /// An entity within a type.
    @Entity
    fileprivate struct Inner {
      #Index<Model.Inner>([\.value])
      fileprivate var value: Int
    }
  }

  enum Hidden {
    static let defaults: any Entity.Type = Defaults.self
    static let inner: any Entity.Type = Model.Inner.self
  }
#endif
