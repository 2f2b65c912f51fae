/* A model of the slots, fences, floor and collection of a replica.
 *
 * An old writer, two processes that take over, a collector and a follower share a storage whose only
 * condition is "store if absent". Answers are lost, requests are executed late, and writers crash.
 * No process has a clock, so each may stall at every step through takeovers and collections.
 *
 * Each step below is one request to the storage, together with what its process does on the answer.
 *
 * The assertions state the properties:
 *   one chain      an acknowledged entry is the first one that its slot has ever got
 *   no loss        a deleted slot is below the floor, and a base covers the floor
 *   no fork        a writer has applied all entries before the one that it writes
 *   true readers   a follower applies only entries of the chain
 *
 * A macro plants a bug, and a run must then find a violated assertion:
 *   NO_FLOOR_READ    the floor is not read after a PUT
 *   NO_EPOCH         a restarted writer does not compare epochs
 *   FLOOR_LAST       the floor is raised after the deletes
 *   ONE_FLOOR        the floor is one object that collectors overwrite
 *   TRUSTING_READER  a follower does not read the floor after an entry
 *   WRONG_412        a taken slot is not read, and the lost answer of another is taken for an own
 */

#ifndef SLOTS
#define SLOTS 5        /* slots 0 to SLOTS - 1; slot 0 is the first fence */
#endif
#ifndef WRITERS
#define WRITERS 3      /* the old writer, and those that take over */
#endif
#ifndef COLLECTIONS
#define COLLECTIONS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef LATE_REQUESTS
#define LATE_REQUESTS 1
#endif

/* An entry is its writer and its epoch. Equal entries in one slot have equal bytes. */
#define ENTRY(writer, epoch) ((epoch) * 4 + (writer) + 1)
#define EPOCH(entry) ((entry) / 4)
#define WRITER(entry) ((entry) % 4 - 1)

byte slot[SLOTS];      /* the storage: 0 for an absent object */
byte first[SLOTS];     /* the truth: the first entry of each slot */
byte floor;            /* the newest record of the floor: its slot */
byte base;             /* the newest base */
byte lateCount;        /* the number of late requests so far */
byte lateSlot[WRITERS], lateEntry[WRITERS];   /* a request that is executed late */

inline store(where, entry) {
  slot[where] = entry;
  if
  :: first[where] == 0 ->
       assert(where == 0 || first[where - 1] != 0);
       first[where] = entry
  :: else -> assert(where < floor)
  fi
}

inline giveUp(where, entry) {
  /* The answer is lost, or the request is executed much later. */
  if
  :: skip
  :: lateSlot[self] == 0 && lateCount < LATE_REQUESTS -> lateCount++; lateSlot[self] = where; lateEntry[self] = entry
  fi
}

proctype Writer(byte self; bool isOld) {
  byte position, entry, epoch, crashes;
  bool isStale;        /* the store lacks entries before its position */
  bool isMisled;       /* an entry that was read is not of the chain */

  if
  :: isOld -> epoch = 1; goto write
  :: else -> goto restore
  fi;

restore:                /* A base leads to a position, and entries lead on from it. */
  atomic { position = base; isMisled = false; epoch = EPOCH(first[position]) };

follow:
  if
  :: position + 1 >= SLOTS -> goto end
  :: else
  fi;
  atomic {
    entry = slot[position + 1];
    if
    :: entry == 0 -> goto fence
    :: entry != 0 && (isMisled || EPOCH(entry) < epoch) -> goto restore   /* the chain is broken */
    :: else ->
         if :: entry != first[position + 1] -> isMisled = true :: else fi;
         position++; epoch = EPOCH(entry); goto follow
    fi
  };

fence:
  atomic {
    entry = ENTRY(self, epoch + 1);
    if
    :: slot[position + 1] == 0 ->
         if
         :: store(position + 1, entry); goto fenceFloor
         :: store(position + 1, entry); goto fence       /* the answer is lost */
         :: giveUp(position + 1, entry); goto fence
         fi
    :: slot[position + 1] == entry -> goto fenceFloor
    :: else -> goto follow
    fi
  };

fenceFloor:
  atomic {
    if
#ifndef NO_FLOOR_READ
    :: floor > position + 1 -> goto fenceGarbage
#endif
    :: else ->
         assert(first[position + 1] == entry);
         assert(!isMisled);
         position++; epoch++; goto write
    fi
  };

fenceGarbage:
  atomic { slot[position + 1] = 0; goto restore };

start:                  /* A restarted writer compares its position with the chain. */
  if
  :: position + 1 >= SLOTS -> goto end
  :: else
  fi;
  atomic {
    entry = slot[position + 1];
    if
    :: entry == 0 -> goto startFloor
    :: entry == ENTRY(self, epoch) -> goto startAdopt
#ifdef NO_EPOCH
    :: entry != 0 && entry != ENTRY(self, epoch) ->
         isStale = true; position++; goto start
#else
    :: entry != 0 && entry != ENTRY(self, epoch) -> goto end
#endif
    fi
  };

startAdopt:
  atomic {
    if
    :: floor > position + 1 -> goto end
    :: else -> assert(first[position + 1] == entry); position++; goto start
    fi
  };

startFloor:
  atomic {
    if
    :: floor > position + 1 -> goto end
    :: else -> goto write
    fi
  };

write:
  if
  :: position + 1 >= SLOTS -> goto end
  :: atomic { position > base -> base = position }; goto write
  :: crashes < CRASHES -> crashes++; goto start
  :: position + 1 < SLOTS
  fi;
  entry = ENTRY(self, epoch);

put:
  atomic {
    if
    :: slot[position + 1] == 0 ->
         if
         :: first[position + 1] == 0 -> assert(!isStale)
         :: else
         fi;
         if
         :: store(position + 1, entry); goto writeFloor
         :: store(position + 1, entry); goto lost
         :: giveUp(position + 1, entry); goto lost
         fi
    :: slot[position + 1] != 0 -> goto taken
    fi
  };

lost:
  if
  :: goto put
  :: crashes < CRASHES -> crashes++; goto start
  fi;

taken:
  atomic {
    if
#ifdef WRONG_412
    :: true -> goto writeFloor
#else
    :: slot[position + 1] == entry || slot[position + 1] == 0 -> goto writeFloor
    :: else -> goto end                                  /* fenced */
#endif
    fi
  };

writeFloor:
  atomic {
    if
#ifndef NO_FLOOR_READ
    :: floor > position + 1 -> goto garbage
#endif
    :: else ->
         assert(first[position + 1] == entry);
         if
         :: position++; goto write
         :: crashes < CRASHES -> crashes++; goto start   /* acknowledged, but not remembered */
         fi
    fi
  };

garbage:
  slot[position + 1] = 0;

end:
  skip
}

/* Executes requests whose writers have long abandoned them. */
proctype Network() {
#define LATE(i) atomic { lateSlot[i] != 0 -> \
    if \
    :: slot[lateSlot[i]] == 0 -> store(lateSlot[i], lateEntry[i]) \
    :: else \
    fi; \
    lateSlot[i] = 0; lateEntry[i] = 0 }
end:
  do
  :: LATE(0)
  :: LATE(1)
#if WRITERS > 2
  :: LATE(2)
#endif
  od
}

proctype Collector() {
  byte runs, target, known, i;
  do
  :: runs < COLLECTIONS ->
       runs++;
       d_step { target = base; known = floor };
       if
       :: target > floor ->
#ifdef FLOOR_LAST
            i = 0;
            do
            :: i < target -> slot[i] = 0; i++
            :: else -> break
            od;
            floor = target
#else
#ifdef ONE_FLOOR
            floor = target;
#else
            /* A record of the floor is stored only if it is absent. */
            if
            :: atomic { floor == known -> floor = target }
            :: floor != known -> target = 0
            fi;
#endif
            i = 0;
            do
            :: i < target ->
                 atomic { assert(i < floor); assert(base >= floor); slot[i] = 0; i++ }
            :: else -> break
            od
#endif
       :: else
       fi;
       atomic { i = 0; target = 0; known = 0 }
  :: break
  od
}

proctype Follower() {
  byte position, entry;
end:
  do
  :: position + 1 < SLOTS ->
       entry = slot[position + 1];
       if
#ifdef TRUSTING_READER
       :: entry != 0 -> assert(first[position + 1] == entry); position++
#else
       :: atomic { entry != 0 && floor <= position + 1 ->
            assert(first[position + 1] == entry); position++ }
#endif
       :: atomic { floor > position + 1 -> position = base }
       :: entry == 0
       fi;
       entry = 0
  :: position + 1 >= SLOTS -> break
  od
}

init {
  atomic {
    slot[0] = ENTRY(0, 1);
    first[0] = ENTRY(0, 1);
    run Writer(0, true);
    byte i = 1;
    do
    :: i < WRITERS -> run Writer(i, false); i++
    :: else -> break
    od;
    run Network();
    run Collector();
#ifdef ONE_FLOOR
    run Collector();
#endif
    run Follower()
  }
}
