import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Names of attributes from names of members` {
  private static let names: [(String, String)] = [
    ("name", "name"), ("_private", "_private"), ("a__b", "a__b"), ("impact-e", "impact_e"),
    ("C#", "C_number"), ("C+", "C_plus"), ("price $", "price_dollar"), ("price €", "price_euro"),
    ("% of total", "percent_of_total"), ("price (usd)", "price_usd"), ("is open?", "is_open"),
    ("a.b[0]", "a_b_0"), ("2x", "_2x"), ("é", "e"), ("Größe", "Grosse"), ("Straße", "Strasse"),
    ("e\u{301}te\u{301}", "ete"), ("имя", "imya"), ("год", "god"), ("Щука", "Shchuka"),
    ("объект", "obekt"), ("Київ", "Kiyiv"), ("Αθήνα", "Athina"), ("名前", "u540D_u524D"),
    ("한", "uD55C"), ("m²", "m_squared"), ("CO₂", "CO2"), ("_id", "_id_"), (" _id", "_id_"),
    ("", "unnamed"), ("-", "u002D"), ("->", "greater"), ("?!", "u003F_u0021"), ("a\u{0}b", "a_b"),
    ("😀", "u1F600"), ("mood 😀", "mood"), (" a ", "a"), ("a _ b", "a_b"),
  ]

  @Test(arguments: names)
  func `attribute names made from members are readable and valid`(member: String, name: String) {
    #expect(AttributeNames.readable(member) == name)
    #expect(EntityDescription.isValidAttributeName(AttributeNames.readable(member)))
  }

  @Test func `attribute names are valid whatever the name of the member`() {
    var random = SeededNumbers(seed: 42)
    for _ in 0..<5_000 {
      let count = Int.random(in: 0...40, using: &random)
      let scalars = (0..<count).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0...0x1_0000, using: &random))
      }
      var name = ""
      name.unicodeScalars.append(contentsOf: scalars)
      let found = AttributeNames.readable(name)
      #expect(EntityDescription.isValidAttributeName(found), "\(name.debugDescription): \(found)")
    }
  }

  @Test func `attribute names are all different, whichever names exist and in any order`() {
    let long = String(repeating: "x", count: 70)
    let names = ["a b", "a-b", "a_b", "A b", long + "1", long + "2", "имя", "imya"]
    let found = AttributeNames.distinct(names, besides: ["A_b", "a_b_2"])
    #expect(Set(found.values).count == names.count)
    #expect(found.values.allSatisfy(EntityDescription.isValidAttributeName))
    #expect(Set(found.values).isDisjoint(with: ["A_b", "a_b_2"]))
    #expect(found["a_b"] == "a_b" && found["imya"] == "imya" && found["имя"] == "imya_2")
    #expect(AttributeNames.distinct(names.reversed(), besides: ["A_b", "a_b_2"]) == found)
    // If a valid name is taken, it gets a suffix too.
    #expect(AttributeNames.distinct(["a"], besides: ["a"]) == ["a": "a_2"])
  }
}

@Suite struct `What texts of separated values can be read as` {
  private static let forms: [(String, TextForm)] = [
    ("0", .integer(0)), ("-5", .integer(-5)), ("007", .text), ("+5", .text),
    ("-0", .number(isDouble: true)),
    ("9223372036854775808", .unsigned(1 << 63)), ("18446744073709551616", .text), ("1_000", .text),
    ("1,5", .text), (" 5", .text), ("1.5", .number(isDouble: true)), ("1.", .text),
    (".5", .number(isDouble: true)),
    ("00.5", .text), ("1e3", .number(isDouble: true)), ("1e", .text),
    ("1e999", .number(isDouble: false)),
    ("0.1234567890123456789", .number(isDouble: false)),
    ("0.30000000000000004", .number(isDouble: true)),
    ("1e-400", .number(isDouble: false)), ("true", .bool), ("False", .bool), ("yes", .text),
    ("t", .text),
    ("2024-01-05", .date), ("2024-01-05 10:00:00", .date), ("2024-01-05T10:00:00.123456Z", .date),
    ("2024-01-05T10:00:00.1234567Z", .text), ("2024-02-30", .text),
    // Far from 2001, a double holds fewer decimals of a second, so some texts would not stay exact.
    ("2200-01-01T00:00:00.123457Z", .date), ("3000-06-01T00:00:00.500000Z", .date),
    ("3000-06-01T00:00:00.000001Z", .text), ("9999-12-31T23:59:59.999999Z", .text),
    ("9999-12-31T23:59:59Z", .date), ("2024-01-05 10:00:00,50", .date),
    ("20240105", .integer(20_240_105)),
    ("2024-01", .text), ("05.01.2024", .text), ("", .text), ("NaN", .text), ("0x10", .text),
    ("192.168.0.1", .text), ("-", .text), ("1-2", .text),
  ]

  @Test(arguments: forms)
  func `a text of separated values is read as a type only if it loses no meaning`(
    text: String, form: TextForm
  ) {
    #expect(TextForm(text) == form)
  }
}
