/// Random texts of many scripts, for the analysis of texts.
enum RandomTexts {
  private static let samples: [[String]] = [
    ["new", "Hope", "AFNetworking", "iPhone15Pro", "don't", "l\u{2019}avion", "XMLHttpRequest2"],
    ["1,234.5", "1.2.3", "v10", "3rd", "2020-12-01", "x\u{b2}", "\u{bd}", "1_000"],
    [
      "Stra\u{df}e", "\u{1e9e}A", "e\u{301}t\u{e9}", "\u{fb01}n", "\u{c6}r\u{f8}", "\u{130}\u{131}",
    ],
    ["Ωμέγα", "Ёлка", "Київ", "ЛевТолстой", "ქართული", "Հայերեն"],
    ["צה\"ל", "שָׁלוֹם", "العَرَبِيّة", "٣٫١٤", "فارسی\u{200c}ها"],
    ["हिन्दी", "क़लम", "বাংলা", "தமிழ்", "తెలుగు", "සිංහල"],
    ["東京", "スター・ウォーズ", "ｶﾞﾝﾀﾞﾑ", "か\u{3099}", "らーめん", "㍿", "三國志", "ㄅㄆㄇ"],
    ["서울특별시", "KBS뉴스9", "\u{1112}\u{1161}\u{11ab}", "ㅋㅋ"],
    ["แม่น้ำ", "ภาษาไทย๑๒", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာ"],
    ["👨‍👩‍👧", "🇫🇷🇩🇪", "👍🏽", "☀️", "1️⃣", "a\u{200d}🙂"],
    [
      " ", " ", "-", "_", ".", ",", "'", "\u{2010}", "・", "\n", "\u{ad}", "\u{200d}", "\u{e31}",
      "/",
    ],
  ]

  /// A text of the samples, whole or in part, with signs between them.
  static func text(_ generator: inout SeededGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 1...12, using: &generator) {
      let group =
        Bool.random(using: &generator) ? samples.last : samples.randomElement(using: &generator)
      let sample = group?.randomElement(using: &generator) ?? ""
      if Int.random(in: 0..<4, using: &generator) == 0 {
        text.unicodeScalars += sample.unicodeScalars.prefix(
          Int.random(in: 1...3, using: &generator))
      } else {
        text += sample
      }
    }
    return text
  }

  /// A text of any scalars, half of them in one block, or of nasty ones.
  static func wildText(_ generator: inout SeededGenerator) -> String {
    if Bool.random(using: &generator) { return generator.nastyText(upTo: 12) }
    var text = ""
    let block = UInt32.random(in: 0..<0x320, using: &generator) << 8
    for _ in 0..<Int.random(in: 1...12, using: &generator) {
      let value =
        Bool.random(using: &generator)
        ? block + .random(in: 0...255, using: &generator)
        : .random(in: 0x20...0x3ffff, using: &generator)
      text.unicodeScalars.append(Unicode.Scalar(value) ?? " ")
    }
    return text
  }
}
