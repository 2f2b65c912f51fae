import EntityStore

// Boroughs with borrowers, who have open borrowings and favourites. Attributes are derived with
// conditions of every kind, one of them over another, and a delete rule has a condition.

struct Borough: Entity {
  var id = RecordID<Borough>()
  var name: String
  private(set) var busy = 0

  static let members = ToMany<Borough, Borrower>(inverse: \.branch)

  static let schema = EntitySchema<Borough>(
    "Borough",
    attributes: [
      .init("name", \.name),
      // The condition tests an attribute that is itself derived with a condition.
      .derived("busy", \.busy, .count(members) { $0.openLoans > 1 }),
    ], relationships: [.init("members", members)])

  init(_ name: String) { self.name = name }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    busy = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

struct Borrower: Entity {
  var id = RecordID<Borrower>()
  var name: String
  var branch: Borough.ID?
  private(set) var openLoans = 0
  private(set) var openPages = 0
  private(set) var longestOpen: Int?
  private(set) var meanOpen: Double?
  private(set) var openFavourites = 0
  private(set) var thickFavourites = 0

  static let loans = ToMany<Borrower, Borrowing>(
    inverse: \.member, onDelete: .cascade, deniesDeleteWhere: { $0.isOpen == true })
  static let favourites = ToMany<Borrower, Borrowing>()

  struct Attributes: Sendable {
    var name: Attribute<Borrower, String> { .init(0) }
    var openLoans: Attribute<Borrower, Int> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Borrower>(
    "Borrower",
    attributes: [
      .init("name", \.name), .toOne("branch", \.branch),
      .derived("openLoans", \.openLoans, .count(loans) { $0.isOpen == true }),
      .derived("openPages", \.openPages, .sum(loans, \.pages) { $0.isOpen == true }),
      .derived("longestOpen", \.longestOpen, .maximum(loans, \.pages) { $0.isOpen == true }),
      .derived("meanOpen", \.meanOpen, .average(loans, \.pages) { $0.isOpen == true }),
      .derived("openFavourites", \.openFavourites, .count(favourites) { $0.isOpen == true }),
      .derived(
        "thickFavourites", \.thickFavourites,
        .sum(favourites, \.pages) {
          $0.pages > 100; $0.title != "b"
        }),
    ], indexes: [[\.openLoans]],
    relationships: [.init("loans", loans), .init("favourites", favourites)])

  init(_ name: String, branch: Borough.ID? = nil) {
    self.name = name
    self.branch = branch
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    branch = try reader.read()
    openLoans = try reader.read()
    openPages = try reader.read()
    longestOpen = try reader.read()
    meanOpen = try reader.read()
    openFavourites = try reader.read()
    thickFavourites = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(branch)
  }
}

struct Borrowing: Entity {
  var id = RecordID<Borrowing>()
  var title: String
  var pages: Int
  var isOpen: Bool
  var member: Borrower.ID?

  struct Attributes: Sendable {
    var id: Attribute<Borrowing, Borrowing.ID> { .recordID }
    var title: Attribute<Borrowing, String> { .init(0) }
    var pages: Attribute<Borrowing, Int> { .init(1) }
    var isOpen: Attribute<Borrowing, Bool> { .init(2) }
    var member: Attribute<Borrowing, Borrower.ID?> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Borrowing>(
    "Borrowing",
    attributes: [
      .init("title", \.title), .init("pages", \.pages), .init("isOpen", \.isOpen),
      .toOne("member", \.member),
    ])

  init(_ title: String, pages: Int, isOpen: Bool = true, member: Borrower.ID? = nil) {
    self.title = title
    self.pages = pages
    self.isOpen = isOpen
    self.member = member
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    pages = try reader.read()
    isOpen = try reader.read()
    member = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(pages)
    writer.write(isOpen)
    writer.write(member)
  }
}
