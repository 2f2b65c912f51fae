/// The Unicode data for words, as text.
///
/// The data is frozen: it was taken from Unicode 17.0 and must not be updated, because the terms of
/// texts depend on it. See Format.md, "Annex: data of Unicode".
///
/// Runs are separated by spaces, and numbers are in base 36. A run is the distance of its first
/// scalar from the end of the run before, then `*` and its length unless that is 1.
enum WordData {}

extension WordData {
  /// Letters and numbers of Unicode 17.0 except decimal digits (general categories L, Nl and No).
  static let letters: StaticString = """
    1t*q 6*q 1b 7*2 1 3*2 1*3 1*n 1*v 1*cq 4*c e*5 7 1 3l*5 1*2 2*4 1 6 1*3 1 1*k 1*2b 1*3v 8*4m
    1*12 2 6*15 1z*r 4*4 19*17 z*2 1*2r 1 f*2 7*2 a*3 2 g 1*u t*2h b o*x 9*2 4 5*m 4 9 3 n*p 7*b 5*o
    1*7 g*16 1m*1i 3 i 7*a f*g 4*8 2*2 2*m 1*7 1 3*4 3 g d*2 1*3 e*2 2*6 2 8*6 4*2 2*m 1*7 1*2 1*2
    1*2 v*4 1 j*3 g*9 1*3 1*m 1*7 1*2 1*5 3 i f*2 n b*8 2*2 2*m 1*7 1*2 1*5 3 u*2 1*3 f*7 b 1*6 3*3
    1*4 3*2 1 1*2 3*2 3*3 3*c m v*3 i*8 1*3 1*n 1*g 3 q*3 1*2 2*2 m*7 1 4*8 1*3 1*n 1*a 1*5 3 u*3
    1*2 f*2 h*9 1*3 1*15 2 g 5*3 1*a e*9 1*6 5*i 3*o 1*9 1 2*7 1m*1c 1*2 c*7 1m*2 1 1*5 1*o 1 1*a
    1*2 9 2*5 1 l*4 w 15*a c*8 1*10 r*5 37*17 k g*6 4*4 3 3*2 7*3 4*d c h*12 1 5 2*17 1*99 1*4 2*7 1
    1*4 2*15 1*4 2*x 1*4 2*7 1 1*4 2*f 1*1l 1*4 2*1v e*k 3*g g*2e 2*6 3*h8 2*h 1*q 5*23 3*b 7*i d*j
    e*i e*d 1*3 f*1g z 4 j*a 12*2h 7*5 2*y 1 5*1y a*v 1d*u 2*5 b*18 4*q g 11*n 9*1h 2a 2l*1b h*8
    1i*u d*2 a*18 q*10 15*3 a*10 2*b 5*17 2*3 15*4 1*6 1*2 3 5*5c 1s*7q 2*6 2*12 2*6 2*8 1 1 1 1*v
    2*1h 1*7 1 3*3 1*7 3*4 2*6 4*d 5*3 1*7 37*2 2*6 5*b 6*d 2t 4 2*a 1 3*5 6 1 1 1*4 1*b 2*4 5*5 4
    1*1m k6*1o 26*m hi*u vg*6d 6*4 3*2 9 2*12 1 5 2*1k 7 g*n 9*7 1*7 1*7 1*7 1*7 1*7 1*7 1*7 28 d1*3
    p*9 7*5 2*5 4*2e 6*3 1*2i 1*4 5*17 1*2m 3*4 a*w 1c*g w*a u*8 1*f w*a 13*f 8w*534 1s*h3h 1v*1a
    2*7h 3*g a*2 k*1b g*v 2*28 13*9 2*2v 2*2a k*h 1*3 1*4 1*n d*6 a*1g e*1e 1q*6 3 1*2 b*s a*n p*t
    7*1b s g*5 1*a a*5 1*15 n*3 1*8 k*n 3 3*1e 1 3*2 2*5 2 1 o*3 2*b 7*3 c*6 2*6 2*6 9*7 1*7 1*17
    1*e 6*37 t*8mc c*n 4*1d 6is*a6 2*2y 12*7 c*5 5 1*a 1*d 1*5 1 1*2 1*2 1*30 x*a3 i*1s 2*1i 14*c
    38*5 1*3r 10*q 6*q b*2h 3*6 2*6 2*6 2*3 z*c 1*q 1*j 1*2 1*f 2*e y*3f c*19 c*1l h*2 6s*t 3*1d g*r
    4*10 9*u 5*12 a*u 2*10 4*8 1*5 16*4e i*10 4*10 4*14 8*1g c*b 1*f 1*7 1*2 1*b 1*f 1*7 1*2 3*1g
    c*8n 9*m a*8 o*6 1*16 1*9 1x*6 2 1*18 1*2 3 2*n 2*v 2*12 8*9 1c*j 1*2 5*x 4*q 6*q 12*1k 4*k 2*1b
    f*4 1*3 1*t a*9 n*v 1*w w*8 1*s 6*5 g*1i a*m 2*r 5*q n*7 28*21 1j*1f d*1f 7*16 12*s 9*n 62*v
    1*16 6*2 g*6 1k*14 8*m b*4 r*i 1a*s k*n c*1h q*k b*2 2 d*19 w*p q*10 t 2 8*z 3 c*1c e*4 l 1 4*k
    b*i 1*p j*2 1r*7 1 1*4 1*f 1*a 7*1b 12*8 2*2 2*m 1*7 1*2 1*5 3 i c*5 u*a 1 2 1*12 1 p 1 18*1h
    i*4 k*3 u*1c k*2 1 54*1b 15*4 10*1c k 1n*17 d 1z*r v*2 4*7 55*18 38*1s a*9 c*8 2 2*8 1*2 1*o f 1
    2m*8 2*13 g 1 s a*14 7 l b*1a j i*21 5j*x v*9 1*11 h p*j 5*u 34*7 1*2 1*12 l p*6 1*2 1*w e n*18
    78*j f 1*d 1*y 3g f*l 17*pm 2u*33 h*5g 218*2p f*ts h*6 p*32z 5*g7 5a1*u 1cy*ft 7*v h*27 h*u i*1c
    g*4 n*7 1*l 5*j c0*19 5v*2f 9*p 2*p 18*23 5 1u*d 1s*2 1 e*5 9*5p2 15*w 2p*37 6pp*4 1*7 1*2 1*83
    f t*3 2 e*4 8*b0 1s4*2z 5*d 3*9 7*a 4di*k c*k 30*p 3r*2d 1*1z 1*2 2 2*2 2*4 1*c 1 1*7 1*1t 1*4
    2*8 1*7 1*s 1*4 1*5 1 3*7 1*9g 2*p 1*p 1*v 1*p 1*v 1*p 1*v 1*p 1*v 1*p 1*8 1f8*v 6*6 79*1q 42*19
    a*7 g 8x*u i*18 dg*s 6c*u 2 5r*v 1*3 1*2 1*7 2*5 9*2 68*7 1*4 1*2 1*f 1*5h 2*9 1c*1w 7 md*1n 1*3
    1*4 24*19 1*f 5e*4 1*r 1*2 1 2 1*a 1*4 1 1 6 4 1 1 1*3 1*2 1 2 1 1 1 1 1*2 1 2*4 1*7 1*4 1*4 1
    1*a 1*h 5*3 1*5 1*h g4*d 2yb*wyo w*3dq 2*4ge 2*5rl f*ha 1wi*f2 15u*3t7 5*6ju
    """

  /// Decimal digits of Unicode 17.0 (general category Nd).
  ///
  /// Each run consists of groups of ten, from the digit zero to the digit nine.
  static let digits: StaticString = """
    1c*a 17q*a 3q*a 5i*a bg*a 3a*a 3a*a 3a*a 3a*a 3a*a 3a*a 3a*a 3a*a 3a*a 2o*a 3a*a 1y*a 7q*a 1y*a
    1fq*a 12*a 8c*a 3k*a 4m*a 6*a 52*a 2e*a 3q*a 6*a r7q*a iu*a 12*a 5i*a m*a 2e*a ba*a geu*a 13a*a
    1om*a 6*a m4*a 3k*a 1o*a 40*a 7q*a 9i*a 3a*a ae*a 2u*a 6*k 24*a bq*a 2u*a ie*a 2e*a 6u*a 1y*a
    1i*a 9y*a d06*a 1t2*a 2e*a 3q*a eu*a iuu*a 250*1e 1ts*a bq*a dy*a 6v*a np*a 3o6*a
    """

  /// The property Extended_Pictographic of Unicode 17.0.
  static let pictographs: StaticString = """
    4p 4 68d c 60 m 2i*6 f*2 a7*2 c 4m p*b 4*3 5j 6f*2 a 9 1m*4 1*5 9 2 2*2 2 4 2 1*2 2 3 3*2 8*3 5
    1 5*c b*2 2 1*2 1 i 2*2 i*6 1 1*2 3*2 5 2*2 4*2 b*2 5*2 2 5*2 1 1*2 k*2 5*6 1*4 2 4 2 2*6 1 2 1
    1 6 3 6 a*2 f 2 4 1 4*3 1 b*2 1c*3 9 e e ac*2 cv*3 j*2 1f 4 yi c gp 1 2fze 13*4 2s*c f*2 f e*2
    11*a 34*2 c*2 e 2*a j*1k r*f a k 2*9 1*4 9*n 6*58 2*34 2*2 1*3 2*2b 2*3 1*4 5*72 1*1r b*6 1*o
    7*2 2*8 c 2*4 2 4*2 d*2 2 8*2 9 5*3 c*3 8*3 2 1 4 6 3 6*2e 1c*1y 5*8 2*h 3 1*6 2*d 62*12 c*4
    1k*8 a*6 14*8 u*2 c*4 2*e 9*13 c*1b 1*a 1*55 2g*8 e*42 74*se
    """
}
