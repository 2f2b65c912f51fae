/// The Unicode data for the texts of derived attributes.
///
/// The data is frozen: it was taken from Unicode 17.0 and must not be updated, because records and
/// index keys depend on it. See Format.md, "Derived attributes".
///
/// Runs are separated by spaces, and numbers are in base 36. A run consists of:
///
/// - the distance of the first scalar from the end of the run before
/// - `*` and the length unless that is 1, or `/` and the length if the run has every second scalar
/// - `+` or `-` and the distance to the scalar that each becomes, or `=` and the resulting scalars
///   separated by dots
enum CaseData {}

extension CaseData {
  /// The lowercase mapping of Unicode 17.0 for each scalar that has a lowercase mapping.
  static let lowercase: StaticString = """
    1t*q+w 2t*n+w 1*7+w x/o+1 1=2x.lj 1/3+1 2/8+1 2/n+1 1-3d 0/3+1 3+5u 0/2+1 1+5q 0+1 1*2+5p 0+1
    2+27 0+5m 0+5n 0+1 1+5p 0+5r 1+5v 0+5t 0+1 3+5v 0+5x 1+5y 0/3+1 1+62 0+1 1+62 2+1 1+62 0+1
    1*2+61 0/2+1 1+63 0+1 3+1 7+2 0+1 1+2 0+1 1+2 0/9+1 2/9+1 2+2 0/2+1 1-2p 0-1k 0/k+1 1-3m 1/9+1
    7+8bv 0+1 1-4j 0+8bs 2+1 1-5f 0+1x 0+1z 0/5+1 81/2+1 3+1 8+38 6+12 1*3+11 1+1s 1*2+1r 1*h+w
    1*9+w z+8 8/c+1 5-1o 2+1 1-7 0+1 2*3-3m 0*g+28 0*w+w 1c/h+1 9/r+1 1+f 0/7+1 2/1c+1 2*12+1c
    289*12+5ls 1+5ls 5+5ls k2*28+tzk 0*6+8 1oz+1 6*17-2bk 2*3-2bk 8w/23+1 9-5vj 1/1c+1 9*8-8 8*6-8
    a*8-8 8*8-8 8*6-8 b/4-8 8*8-8 o*8-8 8*8-8 8*8-8 8*2-8 0*2-22 0-9 b*4-2e 0-9 b*2-8 0*2-2s c*2-8
    0*2-34 0-7 b*2-3k 0*2-3i 0-9 89-5st 3-6gv 0-6di 6+s 19*g+g j+1 mq*q+q 1f4*1c+1c 1c+1 1-8af 0-2xy
    0-89z 2/3+1 1-8bg 0-8al 0-8bj 0-8bi 1+1 2+1 8*2-8cf 0/1e+1 8/2+1 4+1 nyl/n+1 j/e+1 3r/7+1 3/v+1
    a/2+1 1-r9g 0/5+1 4+1 1-wmg 2/2+1 3/a+1 1-wn8 0-wnj 0-wnf 0-wn5 0-wn8 1-wlu 0-wmi 0-wlx 0+ps
    0/8+1 1-1c 0-wn7 0-raw 0/2+1 1-wo7 0/8+1 1-wu9 o+1 h7v*q+w xx*14+14 3s*10+14 4c*b+13 1*f+13
    1*7+13 1*2+13 1d6*1f+1s 4d*m+w 27u*w+w gw0*w+w 1s*p+r o5j*y+y
    """

  /// The uppercase mapping of Unicode 17.0 for each scalar that has an uppercase mapping.
  static let uppercase: StaticString = """
    2p*q-w 1m+kn 15=2b.2b 0*n-w 1*7-w 0+3d 1/o-1 1-6g 1/3-1 2/8-1 0=jg.26 1/n-1 2/3-1 0-8c 0+5f
    2/2-1 2-1 3-1 5-1 2+2p 3-1 0+4j 0+wu9 2+3m 2/3-1 2-1 4-1 2-1 3/2-1 2-1 3-1 1+1k 5-1 0-2 1-1 0-2
    1-1 0-2 1/8-1 0-27 1/9-1 0=22.lo 1-1 0-2 1-1 3/k-1 3/9-1 8-1 2*2+8cf 1-1 4/5-1 0+8bj 0+8bg 0+8bi
    0-5u 0-5q 1*2-5p 1-5m 1-5n 0+wnj 3-5p 0+wnf 1-5r 0+wo7 0+wmg 0+wn8 1-5t 0-5v 0+wn8 0+8af 0+wn5
    2-5v 1+8al 0-5x 2-5y 7+89z 2-62 1+wn7 0-62 3+wmi 0-62 0-1x 0*2-61 0-1z 5-63 a+wlx 0+wlu 4m+2c
    17/2-1 3-1 3*3+3m i=pl.lk.ld r-12 0*3-11 0=px.lk.ld 0*h-w 0-v 0*9-w 0-1s 0*2-1r 1-1q 0-1l 3-1b
    0-1i 0-8 1/c-1 0-2e 0-28 0+7 0-38 1-2o 2-1 2-1 1g*w-w 0*g-28 1/h-1 9/r-1 2/7-1 0-f 1/1c-1
    1d*12-1c 0=111.11u 288*17+2bk 2*3+2bk l4*6-8 1oi-4tq 0-4tp 0-4tg 0*2-4te 0-4tf 0-4t8 0-4rp 0+r7m
    1-1 6m+r9g 3+2xy g+raw 36/23-1 0=20.mp 0=2c.lk 0=2f.lm 0=2h.lm 0=1t.ji 0-1n 5/1c-1 0*8+8 8*6+8
    a*8+8 8*8+8 8*6+8 a=px.lv 0+8 0=px.lv.lc 0+8 0=px.lv.ld 0+8 0=px.lv.n6 0+8 8*8+8 8*2+22 0*4+2e
    0*2+2s 0*2+3k 0*2+34 0*2+3i 2=64o.pl 0=64p.pl 0=64q.pl 0=64r.pl 0=64s.pl 0=64t.pl 0=64u.pl
    0=64v.pl 0=64o.pl 0=64p.pl 0=64q.pl 0=64r.pl 0=64s.pl 0=64t.pl 0=64u.pl 0=64v.pl 0=65k.pl
    0=65l.pl 0=65m.pl 0=65n.pl 0=65o.pl 0=65p.pl 0=65q.pl 0=65r.pl 0=65k.pl 0=65l.pl 0=65m.pl
    0=65n.pl 0=65o.pl 0=65p.pl 0=65q.pl 0=65r.pl 0=67c.pl 0=67d.pl 0=67e.pl 0=67f.pl 0=67g.pl
    0=67h.pl 0=67i.pl 0=67j.pl 0=67c.pl 0=67d.pl 0=67e.pl 0=67f.pl 0=67g.pl 0=67h.pl 0=67i.pl
    0=67j.pl 0*2+8 0=69m.pl 0=pd.pl 0=p2.pl 1=pd.n6 0=pd.n6.pl 4=pd.pl 1-5k5 3=6a2.pl 0=pj.pl
    0=p5.pl 1=pj.n6 0=pj.n6.pl 4=pj.pl 3*2+8 0=pl.lk.lc 0=pl.lk.ld 2=pl.n6 0=pl.lk.n6 8*2+8
    0=px.lk.lc 0=px.lk.ld 0=pt.lv 0+7 0=px.n6 0=px.lk.n6 a=6be.pl 0=q1.pl 0=pb.pl 1=q1.n6 0=q1.n6.pl
    4=q1.pl 9d-s x*g-g 4-1 nf*q-q 1fq*1c-1c 1-1 3-8bv 0-8bs 1/3-1 6-1 2-1 a/1e-1 8/2-1 4-1 c*12-5ls
    1-5ls 5-5ls nwz/n-1 j/e-1 3r/7-1 3/v-1 a/2-1 2/5-1 4-1 4/2-1 0+1c 2/a-1 b/8-1 4/2-1 2/8-1 q-1
    nw-ps s*28-tzk fnk=1y.1y 0=1y.21 0=1y.24 0=1y.1y.21 0=1y.1y.24 0=2b.2c 0=2b.2c c=11g.11i
    0=11g.111 0=11g.117 0=11q.11i 0=11g.119 tl*q-w y5*14-14 3s*10-14 4b*b-13 1*f-13 1*7-13 1*2-13
    1dv*1f-1s 3h*m-w 27u*w-w gw0*w-w 1n*p-r o5q*y-y
    """

  /// The nonspacing marks of Unicode 17.0 (general category Mn).
  static let marks: StaticString = """
    lc*34 7n*5 7d*19 1 1*2 1*2 1 20*b 1c*l g 2t*7 2*6 2*2 1*4 z u*r 2j*b 1m*9 9 o*4 1*9 1*3 1*5 17*3
    1n*9 16*o 1*w 1j 1 4*8 4 3*7 a*2 t 1m 4*4 8 k*2 q 2*2 1l 4*2 4*2 2*3 3 u*2 3 b*2 1l 4*5 1*2 4
    k*2 m*6 1 1m 2 1*4 8 7*2 b*2 u 1p c 1e 3 1j 1*3 5*3 1*4 7*2 b*2 t 1m 2 6 5*2 k*2 s*2 1l*2 4*4 8
    k*2 t 20 7*3 1 2i 2*7 c*8 2q 2*9 b*7 21*2 r 1 1 1j*e 1*5 1*2 5*b 1*10 9 2u*4 1*6 1*2 2*2 p*2 4*3
    g*4 d 2*2 6 f jj*3 qa*3 t*2 u*2 u*2 1s*2 1*7 8 2*b 9 19*3 1 39*2 y 3a*3 4*2 9 6*3 63*2 2 1m 1*7
    1 1 2*8 6*a 2 1c*e 1*v 2*c k*4 1c 1*5 1 5 14*9 c*2 w*4 2*2 1*3 1k 1*2 3 1*3 1m*8 2*2 48*3 1*d
    1*7 4 6 3*2 5i*1s k0*d 4 3*c 2da*3 3x 2o*w fe*4 2z*2 n9w 4*a w*2 28*2 7k 3 4 p*2 5 47*2 q*i d
    12*8 p*b 1a*3 1c 2*4 2*2 13 1v*6 2*2 2*2 c 8 1b 1f 1*3 2*2 5*2 1 16*2 8 6m 2 4 fn4 kh*g g*g r1
    6a 45*5 1ae*3 1*2 5*4 14*3 4 4l*2 fx*4 1t*5 8t*2 25*6 1y*b 1d*4 3f 1i*f 15 2*2 a*3 1d*4 2*2 7
    1p*3 10*5 1*8 1q c*2 1g*9 a*4 2 2n*3 2 1*2 6 2 4d 3*8 l*2 1l*2 3 11*7 3*5 1y*6 d 1 1 e*2 2d*8
    2*3 1 n 2c*6 1 4*2 1*2 6m*4 6*2 1*2 r*2 2d*8 2 1*2 2y 1 2*6 1 2t 1 2*4 1*5 77*9 1*2 74*2 1 4
    40*4 2*2 4 w*a 14*6 2*4 8 9*6 2*3 1a*d 1*2 5i 1*3 1 5l*7 1*6 1 2a*m 2*7 1*2 1*2 3e*6 3 1*2 1*7 1
    20*2 3 1 9n*2 b*2 1g*5 5 1 n 44l 6*f 8ug*c 3*3 1xc*5 1n*7 t4 1r*4 29 f5k*2 3mp*1a 2*n f4*3 h*8
    2*7 u*4 44*3 1iz*1j 4*1e 8 e m*5 1*f 11s*7 1*h 2*7 1*2 1*5 2s 4g*7 af 1p*4 e4*4 72*2 6r 2 7*2 5
    d6*7 31*7 gzhx*6o
    """
}
