import EntityStore

/// The entities of the combined model.
///
/// The schema has a rule over a derived attribute, chains of derived attributes, and two orders,
/// one of them over links that an attribute holds. The schema also has a cascade whose condition
/// denies. Works have an index over elements, a search index and a vector index. Artisans have a
/// place index over a derived attribute.
struct Guild: Equatable {
  static let entities: [any Entity.Type] = [Guild.self, Artisan.self, Work.self]
  static let most = 6

  var id = RecordID<Guild>()
  var name: String
  var parent: Guild.ID?
  private(set) var size = 0
  private(set) var active = 0
  /// Calculated from ``size`` of the branches.
  private(set) var branchSize = 0
  /// Calculated from ``Artisan/priceTotal`` of the members.
  private(set) var priceTotal = 0

  static let members = ToMany<Guild, Artisan>(inverse: \.guild, ordered: true)
  static let branches = ToMany<Guild, Guild>(inverse: \.parent)
  static let board = ToMany<Guild, Artisan>(ordered: true)
}

struct Artisan: Equatable {
  var id = RecordID<Artisan>()
  var name: String
  var guild: Guild.ID?
  /// The number within the guild; one member has each number.
  var number: Int?
  var isActive = true
  private(set) var guildName: String?
  private(set) var priceTotal = 0

  static let boards = ToMany<Artisan, Guild>(inverse: Guild.board)
  static let works = ToMany<Artisan, Work>(
    inverse: \.maker, onDelete: .cascade, deniesDeleteWhere: { $0.isLent == true })
}

struct Work: Equatable {
  var id = RecordID<Work>()
  var title: String
  var price = 0
  var isLent = false
  var maker: Artisan.ID?
  var tags: [String] = []
  var shape: Vector? { .shape(title, price) }
}

extension Vector {
  /// The shape of a work; `nil` for some prices.
  fileprivate static func shape(_ title: String, _ price: Int) -> Vector? {
    price % 5 == 1 ? nil : [Float(price), Float(title.utf8.count), -1]
  }
}

extension Guild: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Guild, Guild.ID> { .recordID }
    var name: Attribute<Guild, String> { .init(0) }
    var parent: Attribute<Guild, Guild.ID?> { .init(1) }
    var size: Attribute<Guild, Int> {
      get { .init(2) }
      set {}
    }
    var branchSize: Attribute<Guild, Int> {
      get { .init(4) }
      set {}
    }
    var members: ToMany<Guild, Artisan> { Guild.members }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Guild>(
    "Guild",
    attributes: [
      .init("name", \.name), .toOne("parent", \.parent), .derived("size", \.size, .count(members)),
      .derived("active", \.active, .count(members) { $0.isActive == true }),
      .derived("branchSize", \.branchSize, .sum(branches, \.size)),
      .derived("priceTotal", \.priceTotal, .sum(members, \.priceTotal)),
    ],
    unique: [[\.name]], indexes: [[\.size]],
    relationships: [
      .init("members", members), .init("branches", branches), .init("board", board),
    ], rules: [RecordRule("a guild is small", format: "size <= 6")])

  init(_ name: String, parent: Guild.ID? = nil) {
    self.name = name
    self.parent = parent
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    parent = try reader.read()
    size = try reader.read()
    active = try reader.read()
    branchSize = try reader.read()
    priceTotal = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(parent)
  }
}

extension Artisan: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Artisan, Artisan.ID> { .recordID }
    var name: Attribute<Artisan, String> { .init(0) }
    var guild: Attribute<Artisan, Guild.ID?> { .init(1) }
    var number: Attribute<Artisan, Int?> { .init(2) }
    var isActive: Attribute<Artisan, Bool> { .init(3) }
    var guildName: Attribute<Artisan, String?> {
      get { .init(4) }
      set {}
    }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Artisan>(
    "Artisan",
    attributes: [
      .init("name", \.name), .toOne("guild", \.guild), .init("number", \.number),
      .init("isActive", \.isActive, initial: true),
      .derived("guildName", \.guildName, .copy(\.guild, \.name)),
      .derived("priceTotal", \.priceTotal, .sum(works, \.price)),
    ],
    unique: [[\.name], [\.guild, \.number]], indexes: [[\.guildName]],
    placeIndexes: [PlaceIndex(.init(\.number), .init(\.priceTotal), invalid: .leftOut)],
    relationships: [.init("works", works), .init("boards", boards)],
    rules: [
      RecordRule("a number is of a guild") { anyOf($0.number == nil, $0.guild != nil) }
    ])

  init(_ name: String, guild: Guild.ID? = nil, number: Int? = nil, isActive: Bool = true) {
    self.name = name
    self.guild = guild
    self.number = number
    self.isActive = isActive
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    guild = try reader.read()
    number = try reader.read()
    isActive = try reader.read()
    guildName = try reader.read()
    priceTotal = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(guild)
    writer.write(number)
    writer.write(isActive)
  }
}

extension Work: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Work, Work.ID> { .recordID }
    var title: Attribute<Work, String> { .init(0) }
    var price: Attribute<Work, Int> { .init(1) }
    var isLent: Attribute<Work, Bool> { .init(2) }
    var maker: Attribute<Work, Artisan.ID?> { .init(3) }
    var tags: Attribute<Work, [String]> { .init(4) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Work>(
    "Work",
    attributes: [
      .init("title", \.title), .init("price", \.price, initial: 0),
      .init("isLent", \.isLent, initial: false), .toOne("maker", \.maker), .init("tags", \.tags),
      .init("shape", \.shape),
    ], unique: [[\.title]], indexes: [[\.price]], elementIndexes: [.init(\.tags)],
    searchIndexes: [SearchIndex(.init(\.title, weight: 2), .init(\.tags))],
    vectorIndexes: [VectorIndex(\.shape, dimensions: 3)])

  init(
    _ title: String, price: Int = 0, isLent: Bool = false, maker: Artisan.ID? = nil,
    tags: [String] = []
  ) {
    self.title = title
    self.price = price
    self.isLent = isLent
    self.maker = maker
    self.tags = tags
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    price = try reader.read()
    isLent = try reader.read()
    maker = try reader.read()
    tags = try reader.read()
    _ = try reader.read() as Vector?
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(price)
    writer.write(isLent)
    writer.write(maker)
    writer.write(tags)
    writer.write(shape)
  }
}

/// ``Work`` in a later program: the attributes have another order, `grade` is new, and the maker
/// is not declared.
struct LaterWork: Equatable {
  static let initialGrade = 7

  var id = RecordID<LaterWork>()
  var grade = LaterWork.initialGrade
  var price = 0
  var tags: [String] = []
  var title: String
  var shape: Vector? { .shape(title, price) }
}

extension LaterWork: Entity {
  struct Attributes: Sendable {
    var id: Attribute<LaterWork, LaterWork.ID> { .recordID }
    var grade: Attribute<LaterWork, Int> { .init(0) }
    var price: Attribute<LaterWork, Int> { .init(1) }
    var tags: Attribute<LaterWork, [String]> { .init(2) }
    var title: Attribute<LaterWork, String> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<LaterWork>(
    "Work",
    attributes: [
      .init("grade", \.grade, initial: initialGrade), .init("price", \.price, initial: 0),
      .init("tags", \.tags), .init("title", \.title), .init("shape", \.shape),
    ], unique: [[\.title]], indexes: [[\.price], [\.grade]], elementIndexes: [.init(\.tags)],
    searchIndexes: [SearchIndex(.init(\.title, weight: 2), .init(\.tags))],
    vectorIndexes: [VectorIndex(\.shape, dimensions: 3)])

  init(_ title: String, price: Int = 0, grade: Int = initialGrade, tags: [String] = []) {
    self.title = title
    self.price = price
    self.grade = grade
    self.tags = tags
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    grade = try reader.read()
    price = try reader.read()
    tags = try reader.read()
    title = try reader.read()
    _ = try reader.read() as Vector?
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(grade)
    writer.write(price)
    writer.write(tags)
    writer.write(title)
    writer.write(shape)
  }
}

/// ``Artisan`` in a program that declares neither guilds nor works.
struct PartArtisan: Equatable {
  var id = RecordID<PartArtisan>()
  var isActive = true
  var name: String
}

extension PartArtisan: Entity {
  struct Attributes: Sendable {
    var id: Attribute<PartArtisan, PartArtisan.ID> { .recordID }
    var isActive: Attribute<PartArtisan, Bool> { .init(0) }
    var name: Attribute<PartArtisan, String> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PartArtisan>(
    "Artisan", attributes: [.init("isActive", \.isActive, initial: true), .init("name", \.name)],
    unique: [[\.name]])

  init(_ name: String, isActive: Bool = true) {
    self.name = name
    self.isActive = isActive
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    isActive = try reader.read()
    name = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(isActive)
    writer.write(name)
  }
}
