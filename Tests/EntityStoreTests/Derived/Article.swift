import EntityStore
import Foundation

/// Attributes that are derived from the record alone, one of them in a unique index.
struct Article: Entity, Equatable {
  var id = RecordID<Article>()
  var title: String
  private(set) var sortTitle = ""
  var subtitle: String?
  private(set) var shout: String?
  var words: Int
  private(set) var minutes = 0.0
  private(set) var insertedAt = Date.distantPast
  private(set) var changedAt = Date.distantPast

  init(_ title: String, subtitle: String? = nil, words: Int = 100) {
    self.title = title
    self.subtitle = subtitle
    self.words = words
  }

  struct Attributes: Sendable {
    var id: Attribute<Article, Article.ID> { .recordID }
    var title: Attribute<Article, String> { .init(0) }
    var sortTitle: Attribute<Article, String> {
      get { .init(1) }
      set {}
    }
    var subtitle: Attribute<Article, String?> { .init(2) }
    var shout: Attribute<Article, String?> {
      get { .init(3) }
      set {}
    }
    var words: Attribute<Article, Int> { .init(4) }
    var minutes: Attribute<Article, Double> {
      get { .init(5) }
      set {}
    }
    var insertedAt: Attribute<Article, Date> {
      get { .init(6) }
      set {}
    }
    var changedAt: Attribute<Article, Date> {
      get { .init(7) }
      set {}
    }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Article>(
    "Article",
    attributes: [
      .init("title", \.title),
      .derived("sortTitle", \.sortTitle, .canonical(\.title)),
      .init("subtitle", \.subtitle),
      .derived("shout", \.shout, .uppercase(\.subtitle)),
      .init("words", \.words),
      .derived("minutes", \.minutes, .function(version: 1) { Double($0.words) / 200 }),
      .derived("insertedAt", \.insertedAt, .insertedAt),
      .derived("changedAt", \.changedAt, .changedAt),
    ],
    unique: [[\.sortTitle]], indexes: [[\.minutes], [\.changedAt]])

  static func key(sortTitle: String) -> EntityKey<Article> {
    EntityKey(_of: attributes.sortTitle, sortTitle)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    sortTitle = try reader.read()
    subtitle = try reader.read()
    shout = try reader.read()
    words = try reader.read()
    minutes = try reader.read()
    insertedAt = try reader.read()
    changedAt = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(subtitle)
    writer.write(words)
  }
}
