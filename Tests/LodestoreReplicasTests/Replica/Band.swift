#if Datasets
  import EntityStore
  import Foundation

  /// A record with unique names, links in records, ordered links and links in trees.
  struct Band: Entity, Hashable {
    static let entities: [any Entity.Type] = [Band.self, Album.self, Fan.self]
    static let albums = ToMany<Band, Album>(inverse: \.band, ordered: true)
    static let covers = ToMany<Band, Album>()

    var id = RecordID<Band>()
    var name: String
    var size: Int

    struct Attributes: Sendable {
      var id: Attribute<Band, RecordID<Band>> { .recordID }
      var name: Attribute<Band, String> { .init(0) }
      var size: Attribute<Band, Int> { .init(1) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Band>(
      "Band", attributes: [.init("name", \.name), .init("size", \.size)], unique: [[\.name]],
      indexes: [[\.size]],
      relationships: [.init("albums", albums), .init("covers", covers)])

    init(name: String, size: Int) { (self.name, self.size) = (name, size) }

    func encode(into writer: inout RecordWriter) {
      writer.write(name)
      writer.write(size)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      name = try reader.read()
      size = try reader.read()
      id = reader.id()
    }
  }

  struct Album: Entity, Hashable {
    var id = RecordID<Album>()
    var title: String
    var cover: Data?
    var band: Band.ID?

    struct Attributes: Sendable {
      var id: Attribute<Album, RecordID<Album>> { .recordID }
      var title: Attribute<Album, String> { .init(0) }
      var cover: Attribute<Album, Data?> { .init(1) }
      var band: Attribute<Album, Band.ID?> { .init(2) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Album>(
      "Album",
      attributes: [.init("title", \.title), .init("cover", \.cover), .toOne("band", \.band)],
      indexes: [[\.title]])

    init(title: String, cover: Data?, band: Band.ID?) {
      (self.title, self.cover, self.band) = (title, cover, band)
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(title)
      writer.write(cover)
      writer.write(band)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      title = try reader.read()
      cover = try reader.read()
      band = try reader.read()
      id = reader.id()
    }
  }

  /// A record that followers may leave out by a condition, because no order has its links.
  struct Fan: Entity, Hashable {
    static let likes = ToMany<Fan, Album>()

    var id = RecordID<Fan>()
    var name: String
    var age: Int
    var band: Band.ID?

    struct Attributes: Sendable {
      var id: Attribute<Fan, RecordID<Fan>> { .recordID }
      var name: Attribute<Fan, String> { .init(0) }
      var age: Attribute<Fan, Int> { .init(1) }
      var band: Attribute<Fan, Band.ID?> { .init(2) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Fan>(
      "Fan",
      attributes: [.init("name", \.name), .init("age", \.age), .toOne("band", \.band)],
      unique: [[\.name]], relationships: [.init("likes", likes)])

    init(name: String, age: Int, band: Band.ID?) {
      (self.name, self.age, self.band) = (name, age, band)
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(name)
      writer.write(age)
      writer.write(band)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      name = try reader.read()
      age = try reader.read()
      band = try reader.read()
      id = reader.id()
    }
  }

  extension Band {
    /// Makes one write with some random changes.
    static func change(_ store: Store, _ random: inout SeededRandom) throws {
      var numbers = SeededRandom(seed: random.next())
      try store.write { tx in
        for _ in 0...numbers.below(3) { try change(&tx, &numbers) }
      }
    }

    private static func change(
      _ tx: inout WriteTransaction, _ numbers: inout SeededRandom
    ) throws {
      let bands = try tx.fetch(Band.all)
      let albums = try tx.fetch(Album.all)
      let band = bands.randomElement(using: &numbers)
      let album = albums.randomElement(using: &numbers)
      let fans = try tx.fetch(Fan.all)
      let fan = fans.randomElement(using: &numbers)
      switch numbers.below(18) {
      case 12:
        let name = "f\(numbers.below(30))"
        if !fans.contains(where: { $0.name == name }) {
          _ = try tx.insert(Fan(name: name, age: numbers.below(9), band: band?.id))
        }
      case 13:
        if let fan {
          try tx.modify(fan.id) { fan in
            fan.age = numbers.below(9)
            if numbers.below(2) == 0 { fan.band = band?.id }
          }
        }
      case 14: if let fan, let album { try tx.add([album.id], to: Fan.likes, of: fan.id) }
      case 15: if let fan, let album { try tx.remove([album.id], from: Fan.likes, of: fan.id) }
      case 16:
        // Two fans exchange their unique names.
        if let fan, var other = fans.randomElement(using: &numbers), other.id != fan.id {
          var fan = fan
          let (one, two) = (fan.name, other.name)
          other.name = "exchanged"
          try tx.update(other)
          (fan.name, other.name) = (two, one)
          try tx.update(fan)
          try tx.update(other)
        }
      case 17: if let fan { try tx.delete(fan.id) }
      case 0, 1: _ = try tx.insert(Band(name: "b\(numbers.next())", size: numbers.below(9)))
      case 2, 3, 4:
        let cover = numbers.below(2) == 0 ? nil : Data(count: numbers.below(3_000))
        _ = try tx.insert(Album(title: "a\(numbers.below(50))", cover: cover, band: band?.id))
      case 5: if let band { try tx.modify(band.id) { $0.size = numbers.below(9) } }
      case 6: if let album { try tx.modify(album.id) { $0.band = band?.id } }
      case 7, 8: if let band, let album { try tx.add([album.id], to: covers, of: band.id) }
      case 9: if let band, let album { try tx.remove([album.id], from: covers, of: band.id) }
      case 10: if bands.count > 3, let band { try tx.delete(band.id) }
      default:
        if numbers.below(2) == 0 {
          try tx.put("\(numbers.next())", for: "k\(numbers.below(3))", in: "b\(numbers.below(3))")
        } else if let album {
          try tx.delete(album.id)
        }
      }
    }
  }
#endif
