/// Facts of the test data of Unicode 17.0 for word boundaries, in a form of our own.
///
/// The source is https://www.unicode.org/Public/17.0.0/ucd/auxiliary/WordBreakTest.txt. Unicode's
/// terms are at https://www.unicode.org/license.txt.
enum WordBreakCases {
  /// The cases of Unicode's WordBreakTest, version 17.0.
  ///
  /// Scalars are in base 36. A vertical line is a boundary between two scalars. A dot joins two.
  static let all: StaticString = """
    d|d d|lk|d d.a d|lk|a d|b d|lk|b d|lc d|lk.lc d|4t d|lk.4t d|9ip d|lk|9ip d|79e d|lk|79e d|1t
    d|lk|1t d|1m d|lk|1m d|18 d|lk|18 d|1a d|lk|1a d|1c d|lk|1c d|2n d|lk|2n d|2qcm d|lk|2qcm d|15c
    d|lk|15c d|y d|lk|y d|13 d|lk|13 d|6bx d|lk.6bx d|4p d|lk|4p d|w d|lk|w d|0 d|lk|0 d|2p.6e8
    d|lk|2p.6e8 d|2p|1m d|lk|2p|1m d|2p|13 d|lk|2p|13 d|2p|13.6e8 d|lk|2p|13.6e8 d|2p|18 d|lk|2p|18
    d|1d|1m d|lk|1d|1m d|1d|13 d|lk|1d|13 d|1d|18 d|lk|1d|18 d|1d|1a.6e8 d|lk|1d|1a.6e8 a|d a|lk|d
    a|a a|lk|a a|b a|lk|b a|lc a|lk.lc a|4t a|lk.4t a|9ip a|lk|9ip a|79e a|lk|79e a|1t a|lk|1t a|1m
    a|lk|1m a|18 a|lk|18 a|1a a|lk|1a a|1c a|lk|1c a|2n a|lk|2n a|2qcm a|lk|2qcm a|15c a|lk|15c a|y
    a|lk|y a|13 a|lk|13 a|6bx a|lk.6bx a|4p a|lk|4p a|w a|lk|w a|0 a|lk|0 a|2p.6e8 a|lk|2p.6e8
    a|2p|1m a|lk|2p|1m a|2p|13 a|lk|2p|13 a|2p|13.6e8 a|lk|2p|13.6e8 a|2p|18 a|lk|2p|18 a|1d|1m
    a|lk|1d|1m a|1d|13 a|lk|1d|13 a|1d|18 a|lk|1d|18 a|1d|1a.6e8 a|lk|1d|1a.6e8 b|d b|lk|d b|a
    b|lk|a b|b b|lk|b b|lc b|lk.lc b|4t b|lk.4t b|9ip b|lk|9ip b|79e b|lk|79e b|1t b|lk|1t b|1m
    b|lk|1m b|18 b|lk|18 b|1a b|lk|1a b|1c b|lk|1c b|2n b|lk|2n b|2qcm b|lk|2qcm b|15c b|lk|15c b|y
    b|lk|y b|13 b|lk|13 b|6bx b|lk.6bx b|4p b|lk|4p b|w b|lk|w b|0 b|lk|0 b|2p.6e8 b|lk|2p.6e8
    b|2p|1m b|lk|2p|1m b|2p|13 b|lk|2p|13 b|2p|13.6e8 b|lk|2p|13.6e8 b|2p|18 b|lk|2p|18 b|1d|1m
    b|lk|1d|1m b|1d|13 b|lk|1d|13 b|1d|18 b|lk|1d|18 b|1d|1a.6e8 b|lk|1d|1a.6e8 lc|d lc.lk|d lc|a
    lc.lk|a lc|b lc.lk|b lc.lc lc.lk.lc lc.4t lc.lk.4t lc|9ip lc.lk|9ip lc|79e lc.lk|79e lc|1t
    lc.lk|1t lc|1m lc.lk|1m lc|18 lc.lk|18 lc|1a lc.lk|1a lc|1c lc.lk|1c lc|2n lc.lk|2n lc|2qcm
    lc.lk|2qcm lc|15c lc.lk|15c lc|y lc.lk|y lc|13 lc.lk|13 lc.6bx lc.lk.6bx lc|4p lc.lk|4p lc|w
    lc.lk|w lc|0 lc.lk|0 lc|2p.6e8 lc.lk|2p.6e8 lc|2p|1m lc.lk|2p|1m lc|2p|13 lc.lk|2p|13
    lc|2p|13.6e8 lc.lk|2p|13.6e8 lc|2p|18 lc.lk|2p|18 lc|1d|1m lc.lk|1d|1m lc|1d|13 lc.lk|1d|13
    lc|1d|18 lc.lk|1d|18 lc|1d|1a.6e8 lc.lk|1d|1a.6e8 4t|d 4t.lk|d 4t|a 4t.lk|a 4t|b 4t.lk|b 4t.lc
    4t.lk.lc 4t.4t 4t.lk.4t 4t|9ip 4t.lk|9ip 4t|79e 4t.lk|79e 4t|1t 4t.lk|1t 4t|1m 4t.lk|1m 4t|18
    4t.lk|18 4t|1a 4t.lk|1a 4t|1c 4t.lk|1c 4t|2n 4t.lk|2n 4t|2qcm 4t.lk|2qcm 4t|15c 4t.lk|15c 4t|y
    4t.lk|y 4t|13 4t.lk|13 4t.6bx 4t.lk.6bx 4t|4p 4t.lk|4p 4t|w 4t.lk|w 4t|0 4t.lk|0 4t|2p.6e8
    4t.lk|2p.6e8 4t|2p|1m 4t.lk|2p|1m 4t|2p|13 4t.lk|2p|13 4t|2p|13.6e8 4t.lk|2p|13.6e8 4t|2p|18
    4t.lk|2p|18 4t|1d|1m 4t.lk|1d|1m 4t|1d|13 4t.lk|1d|13 4t|1d|18 4t.lk|1d|18 4t|1d|1a.6e8
    4t.lk|1d|1a.6e8 9ip|d 9ip.lk|d 9ip|a 9ip.lk|a 9ip|b 9ip.lk|b 9ip.lc 9ip.lk.lc 9ip.4t 9ip.lk.4t
    9ip.9ip 9ip.lk.9ip 9ip|79e 9ip.lk|79e 9ip|1t 9ip.lk|1t 9ip|1m 9ip.lk|1m 9ip|18 9ip.lk|18 9ip|1a
    9ip.lk|1a 9ip|1c 9ip.lk|1c 9ip.2n 9ip.lk.2n 9ip|2qcm 9ip.lk|2qcm 9ip|15c 9ip.lk|15c 9ip|y
    9ip.lk|y 9ip|13 9ip.lk|13 9ip.6bx 9ip.lk.6bx 9ip|4p 9ip.lk|4p 9ip|w 9ip.lk|w 9ip|0 9ip.lk|0
    9ip|2p.6e8 9ip.lk|2p.6e8 9ip|2p|1m 9ip.lk|2p|1m 9ip|2p|13 9ip.lk|2p|13 9ip|2p|13.6e8
    9ip.lk|2p|13.6e8 9ip|2p|18 9ip.lk|2p|18 9ip|1d|1m 9ip.lk|1d|1m 9ip|1d|13 9ip.lk|1d|13 9ip|1d|18
    9ip.lk|1d|18 9ip|1d|1a.6e8 9ip.lk|1d|1a.6e8 79e|d 79e.lk|d 79e|a 79e.lk|a 79e|b 79e.lk|b 79e.lc
    79e.lk.lc 79e.4t 79e.lk.4t 79e|9ip 79e.lk|9ip 79e.79e 79e.lk.79e 79e.1t 79e.lk.1t 79e|1m
    79e.lk|1m 79e|18 79e.lk|18 79e|1a 79e.lk|1a 79e.1c 79e.lk.1c 79e.2n 79e.lk.2n 79e|2qcm
    79e.lk|2qcm 79e.15c 79e.lk.15c 79e|y 79e.lk|y 79e|13 79e.lk|13 79e.6bx 79e.lk.6bx 79e|4p
    79e.lk|4p 79e|w 79e.lk|w 79e|0 79e.lk|0 79e.2p.6e8 79e.lk.2p.6e8 79e.2p|1m 79e.lk.2p|1m
    79e.2p|13 79e.lk.2p|13 79e.2p|13.6e8 79e.lk.2p|13.6e8 79e.2p|18 79e.lk.2p|18 79e.1d|1m
    79e.lk.1d|1m 79e.1d|13 79e.lk.1d|13 79e.1d|18 79e.lk.1d|18 79e.1d|1a.6e8 79e.lk.1d|1a.6e8 1t|d
    1t.lk|d 1t|a 1t.lk|a 1t|b 1t.lk|b 1t.lc 1t.lk.lc 1t.4t 1t.lk.4t 1t|9ip 1t.lk|9ip 1t.79e
    1t.lk.79e 1t.1t 1t.lk.1t 1t|1m 1t.lk|1m 1t|18 1t.lk|18 1t|1a 1t.lk|1a 1t.1c 1t.lk.1c 1t.2n
    1t.lk.2n 1t|2qcm 1t.lk|2qcm 1t.15c 1t.lk.15c 1t|y 1t.lk|y 1t|13 1t.lk|13 1t.6bx 1t.lk.6bx 1t|4p
    1t.lk|4p 1t|w 1t.lk|w 1t|0 1t.lk|0 1t.2p.6e8 1t.lk.2p.6e8 1t.2p|1m 1t.lk.2p|1m 1t.2p|13
    1t.lk.2p|13 1t.2p|13.6e8 1t.lk.2p|13.6e8 1t.2p|18 1t.lk.2p|18 1t.1d|1m 1t.lk.1d|1m 1t.1d|13
    1t.lk.1d|13 1t.1d|18 1t.lk.1d|18 1t.1d|1a.6e8 1t.lk.1d|1a.6e8 1m|d 1m.lk|d 1m|a 1m.lk|a 1m|b
    1m.lk|b 1m.lc 1m.lk.lc 1m.4t 1m.lk.4t 1m|9ip 1m.lk|9ip 1m|79e 1m.lk|79e 1m|1t 1m.lk|1t 1m|1m
    1m.lk|1m 1m|18 1m.lk|18 1m|1a 1m.lk|1a 1m|1c 1m.lk|1c 1m|2n 1m.lk|2n 1m|2qcm 1m.lk|2qcm 1m|15c
    1m.lk|15c 1m|y 1m.lk|y 1m|13 1m.lk|13 1m.6bx 1m.lk.6bx 1m|4p 1m.lk|4p 1m|w 1m.lk|w 1m|0 1m.lk|0
    1m|2p.6e8 1m.lk|2p.6e8 1m|2p|1m 1m.lk|2p|1m 1m|2p|13 1m.lk|2p|13 1m|2p|13.6e8 1m.lk|2p|13.6e8
    1m|2p|18 1m.lk|2p|18 1m|1d|1m 1m.lk|1d|1m 1m|1d|13 1m.lk|1d|13 1m|1d|18 1m.lk|1d|18 1m|1d|1a.6e8
    1m.lk|1d|1a.6e8 18|d 18.lk|d 18|a 18.lk|a 18|b 18.lk|b 18.lc 18.lk.lc 18.4t 18.lk.4t 18|9ip
    18.lk|9ip 18|79e 18.lk|79e 18|1t 18.lk|1t 18|1m 18.lk|1m 18|18 18.lk|18 18|1a 18.lk|1a 18|1c
    18.lk|1c 18|2n 18.lk|2n 18|2qcm 18.lk|2qcm 18|15c 18.lk|15c 18|y 18.lk|y 18|13 18.lk|13 18.6bx
    18.lk.6bx 18|4p 18.lk|4p 18|w 18.lk|w 18|0 18.lk|0 18|2p.6e8 18.lk|2p.6e8 18|2p|1m 18.lk|2p|1m
    18|2p|13 18.lk|2p|13 18|2p|13.6e8 18.lk|2p|13.6e8 18|2p|18 18.lk|2p|18 18|1d|1m 18.lk|1d|1m
    18|1d|13 18.lk|1d|13 18|1d|18 18.lk|1d|18 18|1d|1a.6e8 18.lk|1d|1a.6e8 1a|d 1a.lk|d 1a|a 1a.lk|a
    1a|b 1a.lk|b 1a.lc 1a.lk.lc 1a.4t 1a.lk.4t 1a|9ip 1a.lk|9ip 1a|79e 1a.lk|79e 1a|1t 1a.lk|1t
    1a|1m 1a.lk|1m 1a|18 1a.lk|18 1a|1a 1a.lk|1a 1a|1c 1a.lk|1c 1a|2n 1a.lk|2n 1a|2qcm 1a.lk|2qcm
    1a|15c 1a.lk|15c 1a|y 1a.lk|y 1a|13 1a.lk|13 1a.6bx 1a.lk.6bx 1a|4p 1a.lk|4p 1a|w 1a.lk|w 1a|0
    1a.lk|0 1a|2p.6e8 1a.lk|2p.6e8 1a|2p|1m 1a.lk|2p|1m 1a|2p|13 1a.lk|2p|13 1a|2p|13.6e8
    1a.lk|2p|13.6e8 1a|2p|18 1a.lk|2p|18 1a|1d|1m 1a.lk|1d|1m 1a|1d|13 1a.lk|1d|13 1a|1d|18
    1a.lk|1d|18 1a|1d|1a.6e8 1a.lk|1d|1a.6e8 1c|d 1c.lk|d 1c|a 1c.lk|a 1c|b 1c.lk|b 1c.lc 1c.lk.lc
    1c.4t 1c.lk.4t 1c|9ip 1c.lk|9ip 1c.79e 1c.lk.79e 1c.1t 1c.lk.1t 1c|1m 1c.lk|1m 1c|18 1c.lk|18
    1c|1a 1c.lk|1a 1c.1c 1c.lk.1c 1c.2n 1c.lk.2n 1c|2qcm 1c.lk|2qcm 1c.15c 1c.lk.15c 1c|y 1c.lk|y
    1c|13 1c.lk|13 1c.6bx 1c.lk.6bx 1c|4p 1c.lk|4p 1c|w 1c.lk|w 1c|0 1c.lk|0 1c.2p.6e8 1c.lk.2p.6e8
    1c.2p|1m 1c.lk.2p|1m 1c.2p|13 1c.lk.2p|13 1c.2p|13.6e8 1c.lk.2p|13.6e8 1c.2p|18 1c.lk.2p|18
    1c.1d|1m 1c.lk.1d|1m 1c.1d|13 1c.lk.1d|13 1c.1d|18 1c.lk.1d|18 1c.1d|1a.6e8 1c.lk.1d|1a.6e8 2n|d
    2n.lk|d 2n|a 2n.lk|a 2n|b 2n.lk|b 2n.lc 2n.lk.lc 2n.4t 2n.lk.4t 2n.9ip 2n.lk.9ip 2n.79e
    2n.lk.79e 2n.1t 2n.lk.1t 2n|1m 2n.lk|1m 2n|18 2n.lk|18 2n|1a 2n.lk|1a 2n.1c 2n.lk.1c 2n.2n
    2n.lk.2n 2n|2qcm 2n.lk|2qcm 2n.15c 2n.lk.15c 2n|y 2n.lk|y 2n|13 2n.lk|13 2n.6bx 2n.lk.6bx 2n|4p
    2n.lk|4p 2n|w 2n.lk|w 2n|0 2n.lk|0 2n.2p.6e8 2n.lk.2p.6e8 2n.2p|1m 2n.lk.2p|1m 2n.2p|13
    2n.lk.2p|13 2n.2p|13.6e8 2n.lk.2p|13.6e8 2n.2p|18 2n.lk.2p|18 2n.1d|1m 2n.lk.1d|1m 2n.1d|13
    2n.lk.1d|13 2n.1d|18 2n.lk.1d|18 2n.1d|1a.6e8 2n.lk.1d|1a.6e8 2qcm|d 2qcm.lk|d 2qcm|a 2qcm.lk|a
    2qcm|b 2qcm.lk|b 2qcm.lc 2qcm.lk.lc 2qcm.4t 2qcm.lk.4t 2qcm|9ip 2qcm.lk|9ip 2qcm|79e 2qcm.lk|79e
    2qcm|1t 2qcm.lk|1t 2qcm|1m 2qcm.lk|1m 2qcm|18 2qcm.lk|18 2qcm|1a 2qcm.lk|1a 2qcm|1c 2qcm.lk|1c
    2qcm|2n 2qcm.lk|2n 2qcm.2qcm 2qcm.lk.2qcm 2qcm|15c 2qcm.lk|15c 2qcm|y 2qcm.lk|y 2qcm|13
    2qcm.lk|13 2qcm.6bx 2qcm.lk.6bx 2qcm|4p 2qcm.lk|4p 2qcm|w 2qcm.lk|w 2qcm|0 2qcm.lk|0 2qcm|2p.6e8
    2qcm.lk|2p.6e8 2qcm|2p|1m 2qcm.lk|2p|1m 2qcm|2p|13 2qcm.lk|2p|13 2qcm|2p|13.6e8
    2qcm.lk|2p|13.6e8 2qcm|2p|18 2qcm.lk|2p|18 2qcm|1d|1m 2qcm.lk|1d|1m 2qcm|1d|13 2qcm.lk|1d|13
    2qcm|1d|18 2qcm.lk|1d|18 2qcm|1d|1a.6e8 2qcm.lk|1d|1a.6e8 15c|d 15c.lk|d 15c|a 15c.lk|a 15c|b
    15c.lk|b 15c.lc 15c.lk.lc 15c.4t 15c.lk.4t 15c|9ip 15c.lk|9ip 15c.79e 15c.lk.79e 15c.1t
    15c.lk.1t 15c|1m 15c.lk|1m 15c|18 15c.lk|18 15c|1a 15c.lk|1a 15c.1c 15c.lk.1c 15c.2n 15c.lk.2n
    15c|2qcm 15c.lk|2qcm 15c.15c 15c.lk.15c 15c|y 15c.lk|y 15c.13 15c.lk.13 15c.6bx 15c.lk.6bx
    15c|4p 15c.lk|4p 15c|w 15c.lk|w 15c|0 15c.lk|0 15c.2p.6e8 15c.lk.2p.6e8 15c.2p|1m 15c.lk.2p|1m
    15c.2p|13 15c.lk.2p|13 15c.2p|13.6e8 15c.lk.2p|13.6e8 15c.2p|18 15c.lk.2p|18 15c.1d|1m
    15c.lk.1d|1m 15c.1d|13 15c.lk.1d|13 15c.1d|18 15c.lk.1d|18 15c.1d|1a.6e8 15c.lk.1d|1a.6e8 y|d
    y.lk|d y|a y.lk|a y|b y.lk|b y.lc y.lk.lc y.4t y.lk.4t y|9ip y.lk|9ip y|79e y.lk|79e y|1t
    y.lk|1t y|1m y.lk|1m y|18 y.lk|18 y|1a y.lk|1a y|1c y.lk|1c y|2n y.lk|2n y|2qcm y.lk|2qcm y|15c
    y.lk|15c y|y y.lk|y y|13 y.lk|13 y.6bx y.lk.6bx y|4p y.lk|4p y|w y.lk|w y|0 y.lk|0 y|2p.6e8
    y.lk|2p.6e8 y|2p|1m y.lk|2p|1m y|2p|13 y.lk|2p|13 y|2p|13.6e8 y.lk|2p|13.6e8 y|2p|18 y.lk|2p|18
    y|1d|1m y.lk|1d|1m y|1d|13 y.lk|1d|13 y|1d|18 y.lk|1d|18 y|1d|1a.6e8 y.lk|1d|1a.6e8 13|d 13.lk|d
    13|a 13.lk|a 13|b 13.lk|b 13.lc 13.lk.lc 13.4t 13.lk.4t 13|9ip 13.lk|9ip 13|79e 13.lk|79e 13|1t
    13.lk|1t 13|1m 13.lk|1m 13|18 13.lk|18 13|1a 13.lk|1a 13|1c 13.lk|1c 13|2n 13.lk|2n 13|2qcm
    13.lk|2qcm 13|15c 13.lk|15c 13|y 13.lk|y 13|13 13.lk|13 13.6bx 13.lk.6bx 13|4p 13.lk|4p 13|w
    13.lk|w 13|0 13.lk|0 13|2p.6e8 13.lk|2p.6e8 13|2p|1m 13.lk|2p|1m 13|2p|13 13.lk|2p|13
    13|2p|13.6e8 13.lk|2p|13.6e8 13|2p|18 13.lk|2p|18 13|1d|1m 13.lk|1d|1m 13|1d|13 13.lk|1d|13
    13|1d|18 13.lk|1d|18 13|1d|1a.6e8 13.lk|1d|1a.6e8 6bx|d 6bx.lk|d 6bx|a 6bx.lk|a 6bx|b 6bx.lk|b
    6bx.lc 6bx.lk.lc 6bx.4t 6bx.lk.4t 6bx|9ip 6bx.lk|9ip 6bx.79e 6bx.lk|79e 6bx|1t 6bx.lk|1t 6bx|1m
    6bx.lk|1m 6bx|18 6bx.lk|18 6bx|1a 6bx.lk|1a 6bx|1c 6bx.lk|1c 6bx|2n 6bx.lk|2n 6bx|2qcm
    6bx.lk|2qcm 6bx|15c 6bx.lk|15c 6bx|y 6bx.lk|y 6bx|13 6bx.lk|13 6bx.6bx 6bx.lk.6bx 6bx.4p
    6bx.lk|4p 6bx|w 6bx.lk|w 6bx|0 6bx.lk|0 6bx|2p.6e8 6bx.lk|2p.6e8 6bx|2p|1m 6bx.lk|2p|1m
    6bx|2p|13 6bx.lk|2p|13 6bx|2p|13.6e8 6bx.lk|2p|13.6e8 6bx|2p|18 6bx.lk|2p|18 6bx|1d|1m
    6bx.lk|1d|1m 6bx|1d|13 6bx.lk|1d|13 6bx|1d|18 6bx.lk|1d|18 6bx|1d|1a.6e8 6bx.lk|1d|1a.6e8 4p|d
    4p.lk|d 4p|a 4p.lk|a 4p|b 4p.lk|b 4p.lc 4p.lk.lc 4p.4t 4p.lk.4t 4p|9ip 4p.lk|9ip 4p|79e
    4p.lk|79e 4p|1t 4p.lk|1t 4p|1m 4p.lk|1m 4p|18 4p.lk|18 4p|1a 4p.lk|1a 4p|1c 4p.lk|1c 4p|2n
    4p.lk|2n 4p|2qcm 4p.lk|2qcm 4p|15c 4p.lk|15c 4p|y 4p.lk|y 4p|13 4p.lk|13 4p.6bx 4p.lk.6bx 4p|4p
    4p.lk|4p 4p|w 4p.lk|w 4p|0 4p.lk|0 4p|2p.6e8 4p.lk|2p.6e8 4p|2p|1m 4p.lk|2p|1m 4p|2p|13
    4p.lk|2p|13 4p|2p|13.6e8 4p.lk|2p|13.6e8 4p|2p|18 4p.lk|2p|18 4p|1d|1m 4p.lk|1d|1m 4p|1d|13
    4p.lk|1d|13 4p|1d|18 4p.lk|1d|18 4p|1d|1a.6e8 4p.lk|1d|1a.6e8 w|d w.lk|d w|a w.lk|a w|b w.lk|b
    w.lc w.lk.lc w.4t w.lk.4t w|9ip w.lk|9ip w|79e w.lk|79e w|1t w.lk|1t w|1m w.lk|1m w|18 w.lk|18
    w|1a w.lk|1a w|1c w.lk|1c w|2n w.lk|2n w|2qcm w.lk|2qcm w|15c w.lk|15c w|y w.lk|y w|13 w.lk|13
    w.6bx w.lk.6bx w|4p w.lk|4p w.w w.lk|w w|0 w.lk|0 w|2p.6e8 w.lk|2p.6e8 w|2p|1m w.lk|2p|1m
    w|2p|13 w.lk|2p|13 w|2p|13.6e8 w.lk|2p|13.6e8 w|2p|18 w.lk|2p|18 w|1d|1m w.lk|1d|1m w|1d|13
    w.lk|1d|13 w|1d|18 w.lk|1d|18 w|1d|1a.6e8 w.lk|1d|1a.6e8 0|d 0.lk|d 0|a 0.lk|a 0|b 0.lk|b 0.lc
    0.lk.lc 0.4t 0.lk.4t 0|9ip 0.lk|9ip 0|79e 0.lk|79e 0|1t 0.lk|1t 0|1m 0.lk|1m 0|18 0.lk|18 0|1a
    0.lk|1a 0|1c 0.lk|1c 0|2n 0.lk|2n 0|2qcm 0.lk|2qcm 0|15c 0.lk|15c 0|y 0.lk|y 0|13 0.lk|13 0.6bx
    0.lk.6bx 0|4p 0.lk|4p 0|w 0.lk|w 0|0 0.lk|0 0|2p.6e8 0.lk|2p.6e8 0|2p|1m 0.lk|2p|1m 0|2p|13
    0.lk|2p|13 0|2p|13.6e8 0.lk|2p|13.6e8 0|2p|18 0.lk|2p|18 0|1d|1m 0.lk|1d|1m 0|1d|13 0.lk|1d|13
    0|1d|18 0.lk|1d|18 0|1d|1a.6e8 0.lk|1d|1a.6e8 2p.6e8|d 2p.6e8.lk|d 2p.6e8|a 2p.6e8.lk|a 2p.6e8|b
    2p.6e8.lk|b 2p.6e8.lc 2p.6e8.lk.lc 2p.6e8.4t 2p.6e8.lk.4t 2p.6e8|9ip 2p.6e8.lk|9ip 2p.6e8.79e
    2p.6e8.lk.79e 2p.6e8.1t 2p.6e8.lk.1t 2p.6e8|1m 2p.6e8.lk|1m 2p.6e8|18 2p.6e8.lk|18 2p.6e8|1a
    2p.6e8.lk|1a 2p.6e8.1c 2p.6e8.lk.1c 2p.6e8.2n 2p.6e8.lk.2n 2p.6e8|2qcm 2p.6e8.lk|2qcm 2p.6e8.15c
    2p.6e8.lk.15c 2p.6e8|y 2p.6e8.lk|y 2p.6e8|13 2p.6e8.lk|13 2p.6e8.6bx 2p.6e8.lk.6bx 2p.6e8|4p
    2p.6e8.lk|4p 2p.6e8|w 2p.6e8.lk|w 2p.6e8|0 2p.6e8.lk|0 2p.6e8.2p.6e8 2p.6e8.lk.2p.6e8
    2p.6e8.2p|1m 2p.6e8.lk.2p|1m 2p.6e8.2p|13 2p.6e8.lk.2p|13 2p.6e8.2p|13.6e8 2p.6e8.lk.2p|13.6e8
    2p.6e8.2p|18 2p.6e8.lk.2p|18 2p.6e8.1d|1m 2p.6e8.lk.1d|1m 2p.6e8.1d|13 2p.6e8.lk.1d|13
    2p.6e8.1d|18 2p.6e8.lk.1d|18 2p.6e8.1d|1a.6e8 2p.6e8.lk.1d|1a.6e8 2p|1m|d 2p|1m.lk|d 2p|1m|a
    2p|1m.lk|a 2p|1m|b 2p|1m.lk|b 2p|1m.lc 2p|1m.lk.lc 2p|1m.4t 2p|1m.lk.4t 2p|1m|9ip 2p|1m.lk|9ip
    2p.1m.79e 2p.1m.lk.79e 2p.1m.1t 2p.1m.lk.1t 2p|1m|1m 2p|1m.lk|1m 2p|1m|18 2p|1m.lk|18 2p|1m|1a
    2p|1m.lk|1a 2p|1m|1c 2p|1m.lk|1c 2p|1m|2n 2p|1m.lk|2n 2p|1m|2qcm 2p|1m.lk|2qcm 2p.1m.15c
    2p.1m.lk.15c 2p|1m|y 2p|1m.lk|y 2p|1m|13 2p|1m.lk|13 2p|1m.6bx 2p|1m.lk.6bx 2p|1m|4p 2p|1m.lk|4p
    2p|1m|w 2p|1m.lk|w 2p|1m|0 2p|1m.lk|0 2p.1m.2p.6e8 2p.1m.lk.2p.6e8 2p.1m.2p|1m 2p.1m.lk.2p|1m
    2p.1m.2p|13 2p.1m.lk.2p|13 2p.1m.2p|13.6e8 2p.1m.lk.2p|13.6e8 2p.1m.2p|18 2p.1m.lk.2p|18
    2p|1m|1d|1m 2p|1m.lk|1d|1m 2p|1m|1d|13 2p|1m.lk|1d|13 2p|1m|1d|18 2p|1m.lk|1d|18 2p|1m|1d|1a.6e8
    2p|1m.lk|1d|1a.6e8 2p|13|d 2p|13.lk|d 2p|13|a 2p|13.lk|a 2p|13|b 2p|13.lk|b 2p|13.lc 2p|13.lk.lc
    2p|13.4t 2p|13.lk.4t 2p|13|9ip 2p|13.lk|9ip 2p.13.79e 2p.13.lk.79e 2p.13.1t 2p.13.lk.1t 2p|13|1m
    2p|13.lk|1m 2p|13|18 2p|13.lk|18 2p|13|1a 2p|13.lk|1a 2p|13|1c 2p|13.lk|1c 2p|13|2n 2p|13.lk|2n
    2p|13|2qcm 2p|13.lk|2qcm 2p.13.15c 2p.13.lk.15c 2p|13|y 2p|13.lk|y 2p|13|13 2p|13.lk|13
    2p|13.6bx 2p|13.lk.6bx 2p|13|4p 2p|13.lk|4p 2p|13|w 2p|13.lk|w 2p|13|0 2p|13.lk|0 2p.13.2p.6e8
    2p.13.lk.2p.6e8 2p.13.2p|1m 2p.13.lk.2p|1m 2p.13.2p|13 2p.13.lk.2p|13 2p.13.2p|13.6e8
    2p.13.lk.2p|13.6e8 2p.13.2p|18 2p.13.lk.2p|18 2p|13|1d|1m 2p|13.lk|1d|1m 2p|13|1d|13
    2p|13.lk|1d|13 2p|13|1d|18 2p|13.lk|1d|18 2p|13|1d|1a.6e8 2p|13.lk|1d|1a.6e8 2p|13.6e8|d
    2p|13.6e8.lk|d 2p|13.6e8|a 2p|13.6e8.lk|a 2p|13.6e8|b 2p|13.6e8.lk|b 2p|13.6e8.lc
    2p|13.6e8.lk.lc 2p|13.6e8.4t 2p|13.6e8.lk.4t 2p|13.6e8|9ip 2p|13.6e8.lk|9ip 2p.13.6e8.79e
    2p.13.6e8.lk.79e 2p.13.6e8.1t 2p.13.6e8.lk.1t 2p|13.6e8|1m 2p|13.6e8.lk|1m 2p|13.6e8|18
    2p|13.6e8.lk|18 2p|13.6e8|1a 2p|13.6e8.lk|1a 2p|13.6e8|1c 2p|13.6e8.lk|1c 2p|13.6e8|2n
    2p|13.6e8.lk|2n 2p|13.6e8|2qcm 2p|13.6e8.lk|2qcm 2p.13.6e8.15c 2p.13.6e8.lk.15c 2p|13.6e8|y
    2p|13.6e8.lk|y 2p|13.6e8|13 2p|13.6e8.lk|13 2p|13.6e8.6bx 2p|13.6e8.lk.6bx 2p|13.6e8|4p
    2p|13.6e8.lk|4p 2p|13.6e8|w 2p|13.6e8.lk|w 2p|13.6e8|0 2p|13.6e8.lk|0 2p.13.6e8.2p.6e8
    2p.13.6e8.lk.2p.6e8 2p.13.6e8.2p|1m 2p.13.6e8.lk.2p|1m 2p.13.6e8.2p|13 2p.13.6e8.lk.2p|13
    2p.13.6e8.2p|13.6e8 2p.13.6e8.lk.2p|13.6e8 2p.13.6e8.2p|18 2p.13.6e8.lk.2p|18 2p|13.6e8|1d|1m
    2p|13.6e8.lk|1d|1m 2p|13.6e8|1d|13 2p|13.6e8.lk|1d|13 2p|13.6e8|1d|18 2p|13.6e8.lk|1d|18
    2p|13.6e8|1d|1a.6e8 2p|13.6e8.lk|1d|1a.6e8 2p|18|d 2p|18.lk|d 2p|18|a 2p|18.lk|a 2p|18|b
    2p|18.lk|b 2p|18.lc 2p|18.lk.lc 2p|18.4t 2p|18.lk.4t 2p|18|9ip 2p|18.lk|9ip 2p|18|79e
    2p|18.lk|79e 2p|18|1t 2p|18.lk|1t 2p|18|1m 2p|18.lk|1m 2p|18|18 2p|18.lk|18 2p|18|1a 2p|18.lk|1a
    2p|18|1c 2p|18.lk|1c 2p|18|2n 2p|18.lk|2n 2p|18|2qcm 2p|18.lk|2qcm 2p|18|15c 2p|18.lk|15c
    2p|18|y 2p|18.lk|y 2p|18|13 2p|18.lk|13 2p|18.6bx 2p|18.lk.6bx 2p|18|4p 2p|18.lk|4p 2p|18|w
    2p|18.lk|w 2p|18|0 2p|18.lk|0 2p|18|2p.6e8 2p|18.lk|2p.6e8 2p|18|2p|1m 2p|18.lk|2p|1m
    2p|18|2p|13 2p|18.lk|2p|13 2p|18|2p|13.6e8 2p|18.lk|2p|13.6e8 2p|18|2p|18 2p|18.lk|2p|18
    2p|18|1d|1m 2p|18.lk|1d|1m 2p|18|1d|13 2p|18.lk|1d|13 2p|18|1d|18 2p|18.lk|1d|18 2p|18|1d|1a.6e8
    2p|18.lk|1d|1a.6e8 1d|1m|d 1d|1m.lk|d 1d|1m|a 1d|1m.lk|a 1d|1m|b 1d|1m.lk|b 1d|1m.lc 1d|1m.lk.lc
    1d|1m.4t 1d|1m.lk.4t 1d|1m|9ip 1d|1m.lk|9ip 1d|1m|79e 1d|1m.lk|79e 1d|1m|1t 1d|1m.lk|1t 1d|1m|1m
    1d|1m.lk|1m 1d|1m|18 1d|1m.lk|18 1d|1m|1a 1d|1m.lk|1a 1d|1m|1c 1d|1m.lk|1c 1d|1m|2n 1d|1m.lk|2n
    1d|1m|2qcm 1d|1m.lk|2qcm 1d|1m|15c 1d|1m.lk|15c 1d|1m|y 1d|1m.lk|y 1d|1m|13 1d|1m.lk|13
    1d|1m.6bx 1d|1m.lk.6bx 1d|1m|4p 1d|1m.lk|4p 1d|1m|w 1d|1m.lk|w 1d|1m|0 1d|1m.lk|0 1d|1m|2p.6e8
    1d|1m.lk|2p.6e8 1d|1m|2p|1m 1d|1m.lk|2p|1m 1d|1m|2p|13 1d|1m.lk|2p|13 1d|1m|2p|13.6e8
    1d|1m.lk|2p|13.6e8 1d|1m|2p|18 1d|1m.lk|2p|18 1d|1m|1d|1m 1d|1m.lk|1d|1m 1d|1m|1d|13
    1d|1m.lk|1d|13 1d|1m|1d|18 1d|1m.lk|1d|18 1d|1m|1d|1a.6e8 1d|1m.lk|1d|1a.6e8 1d|13|d 1d|13.lk|d
    1d|13|a 1d|13.lk|a 1d|13|b 1d|13.lk|b 1d|13.lc 1d|13.lk.lc 1d|13.4t 1d|13.lk.4t 1d|13|9ip
    1d|13.lk|9ip 1d|13|79e 1d|13.lk|79e 1d|13|1t 1d|13.lk|1t 1d|13|1m 1d|13.lk|1m 1d|13|18
    1d|13.lk|18 1d|13|1a 1d|13.lk|1a 1d.13.1c 1d.13.lk.1c 1d|13|2n 1d|13.lk|2n 1d|13|2qcm
    1d|13.lk|2qcm 1d|13|15c 1d|13.lk|15c 1d|13|y 1d|13.lk|y 1d|13|13 1d|13.lk|13 1d|13.6bx
    1d|13.lk.6bx 1d|13|4p 1d|13.lk|4p 1d|13|w 1d|13.lk|w 1d|13|0 1d|13.lk|0 1d|13|2p.6e8
    1d|13.lk|2p.6e8 1d|13|2p|1m 1d|13.lk|2p|1m 1d|13|2p|13 1d|13.lk|2p|13 1d|13|2p|13.6e8
    1d|13.lk|2p|13.6e8 1d|13|2p|18 1d|13.lk|2p|18 1d.13.1d|1m 1d.13.lk.1d|1m 1d.13.1d|13
    1d.13.lk.1d|13 1d.13.1d|18 1d.13.lk.1d|18 1d.13.1d|1a.6e8 1d.13.lk.1d|1a.6e8 1d|18|d 1d|18.lk|d
    1d|18|a 1d|18.lk|a 1d|18|b 1d|18.lk|b 1d|18.lc 1d|18.lk.lc 1d|18.4t 1d|18.lk.4t 1d|18|9ip
    1d|18.lk|9ip 1d|18|79e 1d|18.lk|79e 1d|18|1t 1d|18.lk|1t 1d|18|1m 1d|18.lk|1m 1d|18|18
    1d|18.lk|18 1d|18|1a 1d|18.lk|1a 1d.18.1c 1d.18.lk.1c 1d|18|2n 1d|18.lk|2n 1d|18|2qcm
    1d|18.lk|2qcm 1d|18|15c 1d|18.lk|15c 1d|18|y 1d|18.lk|y 1d|18|13 1d|18.lk|13 1d|18.6bx
    1d|18.lk.6bx 1d|18|4p 1d|18.lk|4p 1d|18|w 1d|18.lk|w 1d|18|0 1d|18.lk|0 1d|18|2p.6e8
    1d|18.lk|2p.6e8 1d|18|2p|1m 1d|18.lk|2p|1m 1d|18|2p|13 1d|18.lk|2p|13 1d|18|2p|13.6e8
    1d|18.lk|2p|13.6e8 1d|18|2p|18 1d|18.lk|2p|18 1d.18.1d|1m 1d.18.lk.1d|1m 1d.18.1d|13
    1d.18.lk.1d|13 1d.18.1d|18 1d.18.lk.1d|18 1d.18.1d|1a.6e8 1d.18.lk.1d|1a.6e8 1d|1a.6e8|d
    1d|1a.6e8.lk|d 1d|1a.6e8|a 1d|1a.6e8.lk|a 1d|1a.6e8|b 1d|1a.6e8.lk|b 1d|1a.6e8.lc
    1d|1a.6e8.lk.lc 1d|1a.6e8.4t 1d|1a.6e8.lk.4t 1d|1a.6e8|9ip 1d|1a.6e8.lk|9ip 1d|1a.6e8|79e
    1d|1a.6e8.lk|79e 1d|1a.6e8|1t 1d|1a.6e8.lk|1t 1d|1a.6e8|1m 1d|1a.6e8.lk|1m 1d|1a.6e8|18
    1d|1a.6e8.lk|18 1d|1a.6e8|1a 1d|1a.6e8.lk|1a 1d.1a.6e8.1c 1d.1a.6e8.lk.1c 1d|1a.6e8|2n
    1d|1a.6e8.lk|2n 1d|1a.6e8|2qcm 1d|1a.6e8.lk|2qcm 1d|1a.6e8|15c 1d|1a.6e8.lk|15c 1d|1a.6e8|y
    1d|1a.6e8.lk|y 1d|1a.6e8|13 1d|1a.6e8.lk|13 1d|1a.6e8.6bx 1d|1a.6e8.lk.6bx 1d|1a.6e8|4p
    1d|1a.6e8.lk|4p 1d|1a.6e8|w 1d|1a.6e8.lk|w 1d|1a.6e8|0 1d|1a.6e8.lk|0 1d|1a.6e8|2p.6e8
    1d|1a.6e8.lk|2p.6e8 1d|1a.6e8|2p|1m 1d|1a.6e8.lk|2p|1m 1d|1a.6e8|2p|13 1d|1a.6e8.lk|2p|13
    1d|1a.6e8|2p|13.6e8 1d|1a.6e8.lk|2p|13.6e8 1d|1a.6e8|2p|18 1d|1a.6e8.lk|2p|18 1d.1a.6e8.1d|1m
    1d.1a.6e8.lk.1d|1m 1d.1a.6e8.1d|13 1d.1a.6e8.lk.1d|13 1d.1a.6e8.1d|18 1d.1a.6e8.lk.1d|18
    1d.1a.6e8.1d|1a.6e8 1d.1a.6e8.lk.1d|1a.6e8 d.a|2p|a|lk 2p.lk w.6bx|18m 18m.6bx|w
    19t.18k.181.18u.18x.17x.18w.18q.18l.18w|w|1ct.19d 1ep.1eh.1ep.1eg.1ey.1e8|w|1e7.1el.1ef
    1f0.1e7.1ez.1ea.1eg 1t.1t.1t 1t.1m.1t 1t|1m|1m|1t 15c.13 15c.y.15c 1t.1c.1c.1t 1c.18.1c
    1c|18|18|1c 9ip.9ip 1t.2n.1c.2n.9ip.2n 1t.2n.2n.1t 2qcm.2qcn|2qco|2q 2p|2qcm.2qcn|2qco|2q
    2p|2qcm.2qcn.6bx|2qco|2q 2p|2qcm.6bx.2qcn|2qco|2q 2p|2qcm.2qcn|2qco.2qcp|2q 2quu.2qrj|2quu
    2rbl.6bx.2rbl 2p.6bx.2rbl 7pd.6bx|7pd 2p.6bx|7pd 2quu.2qrj.lk.6bx.2quu.2qrj 2rbl.2qrj
    6bx.2rbl.2qrj 6bx.2rbl 6bx.2rbl 2rbl|2rbl 2p.lk.6bx.lk.2q 2p|w.w|2q 1d|1m|1m|1d
    1d.2n.1d|1m|1m|1d 1d.2n.2p|1m|1m|1d 1d|1m|1m|2p 1d.2n.1d|1m|1m|2p 1d.2n.2p|1m|1m|2p 1d|1m|1a|1d
    1d.2n.1d|1m|1a|1d 1d.2n.2p|1m|1a|1d 1d|1m|1a|2p 1d.2n.1d|1m|1a|2p 1d.2n.2p|1m|1a|2p 1d|1m|18|1d
    1d.2n.1d|1m|18|1d 1d.2n.2p|1m|18|1d 1d|1m|18|2p 1d.2n.1d|1m|18|2p 1d.2n.2p|1m|18|2p 1d|1a|1m|1d
    1d.2n.1d|1a|1m|1d 1d.2n.2p|1a|1m|1d 1d|1a|1m|2p 1d.2n.1d|1a|1m|2p 1d.2n.2p|1a|1m|2p 1d|1a|1a|1d
    1d.2n.1d|1a|1a|1d 1d.2n.2p|1a|1a|1d 1d|1a|1a|2p 1d.2n.1d|1a|1a|2p 1d.2n.2p|1a|1a|2p 1d|1a|18|1d
    1d.2n.1d|1a|18|1d 1d.2n.2p|1a|18|1d 1d|1a|18|2p 1d.2n.1d|1a|18|2p 1d.2n.2p|1a|18|2p 1d|18|1m|1d
    1d.2n.1d|18|1m|1d 1d.2n.2p|18|1m|1d 1d|18|1m|2p 1d.2n.1d|18|1m|2p 1d.2n.2p|18|1m|2p 1d|18|1a|1d
    1d.2n.1d|18|1a|1d 1d.2n.2p|18|1a|1d 1d|18|1a|2p 1d.2n.1d|18|1a|2p 1d.2n.2p|18|1a|2p 1d|18|18|1d
    1d.2n.1d|18|18|1d 1d.2n.2p|18|18|1d 1d|18|18|2p 1d.2n.1d|18|18|2p 1d.2n.2p|18|18|2p 2p|1m|1m|1d
    2p.2n.1d|1m|1m|1d 2p.2n.2p|1m|1m|1d 2p|1m|1m|2p 2p.2n.1d|1m|1m|2p 2p.2n.2p|1m|1m|2p 2p|1m|1a|1d
    2p.2n.1d|1m|1a|1d 2p.2n.2p|1m|1a|1d 2p|1m|1a|2p 2p.2n.1d|1m|1a|2p 2p.2n.2p|1m|1a|2p 2p|1m|18|1d
    2p.2n.1d|1m|18|1d 2p.2n.2p|1m|18|1d 2p|1m|18|2p 2p.2n.1d|1m|18|2p 2p.2n.2p|1m|18|2p 2p|1a|1m|1d
    2p.2n.1d|1a|1m|1d 2p.2n.2p|1a|1m|1d 2p|1a|1m|2p 2p.2n.1d|1a|1m|2p 2p.2n.2p|1a|1m|2p 2p|1a|1a|1d
    2p.2n.1d|1a|1a|1d 2p.2n.2p|1a|1a|1d 2p|1a|1a|2p 2p.2n.1d|1a|1a|2p 2p.2n.2p|1a|1a|2p 2p|1a|18|1d
    2p.2n.1d|1a|18|1d 2p.2n.2p|1a|18|1d 2p|1a|18|2p 2p.2n.1d|1a|18|2p 2p.2n.2p|1a|18|2p 2p|18|1m|1d
    2p.2n.1d|18|1m|1d 2p.2n.2p|18|1m|1d 2p|18|1m|2p 2p.2n.1d|18|1m|2p 2p.2n.2p|18|1m|2p 2p|18|1a|1d
    2p.2n.1d|18|1a|1d 2p.2n.2p|18|1a|1d 2p|18|1a|2p 2p.2n.1d|18|1a|2p 2p.2n.2p|18|1a|2p 2p|18|18|1d
    2p.2n.1d|18|18|1d 2p.2n.2p|18|18|1d 2p|18|18|2p 2p.2n.1d|18|18|2p 2p.2n.2p|18|18|2p
    """
}
