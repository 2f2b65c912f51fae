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
 *   NO_RESTORE_FLOOR a process that takes over does not read the floor after the entries
 *
 * Each step prints a line, which runs of checks ignore. The program `trace` in this folder records the
 * lines of random runs, and tests replay them on the machines of the protocol.
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

/* The weights of processes in random runs (spin -o6); checks run without them. */
#ifdef RANDOM_RUN
#define WEIGHT(number) priority number
#define IS_RANDOM true
#define IS_DUE (base > floor)     /* random runs spend no collection without a new base */
#else
#define WEIGHT(number)
#define IS_RANDOM false
#define IS_DUE true
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
  :: printf("W%d put %d %d never\n", self, where, entry)
  :: lateSlot[self] == 0 && lateCount < LATE_REQUESTS ->
       printf("W%d put %d %d late\n", self, where, entry);
       lateCount++; lateSlot[self] = where; lateEntry[self] = entry
  fi
}

proctype Writer(byte self; bool isOld) {
  byte position, entry, epoch, crashes;
  byte begin;          /* the position from which entries are read */
  bool isStale;        /* the store lacks entries before its position */
  bool isMisled;       /* an entry that was read is not of the chain */

  if
  :: isOld -> epoch = 1; goto write
  :: else -> goto restore
  fi;

restore:                /* A base leads to a position, and entries lead on from it. */
  atomic {
    position = base; begin = base; isMisled = false; epoch = EPOCH(first[position]);
    printf("W%d restore %d\n", self, position)
  };

follow:
  if
  :: position + 1 >= SLOTS -> goto end
  :: else
  fi;
  atomic {
    entry = slot[position + 1];
    printf("W%d read %d %d\n", self, position + 1, entry);
    if
#ifndef NO_RESTORE_FLOOR
    :: entry == 0 && floor > begin + 1 -> goto restore
    :: entry == 0 && floor <= begin + 1 -> goto fence
#else
    :: entry == 0 -> goto fence
#endif
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
         :: printf("W%d put %d %d stored\n", self, position + 1, entry);
            store(position + 1, entry); goto fenceFloor
         :: printf("W%d put %d %d lost\n", self, position + 1, entry);
            store(position + 1, entry); goto fence       /* the answer is lost */
         :: giveUp(position + 1, entry); goto fence
         fi
    :: else ->
         printf("W%d put %d %d exists\n", self, position + 1, entry);
         printf("W%d get %d %d\n", self, position + 1, slot[position + 1]);
         begin = position;
         if
         :: slot[position + 1] == entry -> goto fenceFloor
         :: else -> goto follow
         fi
    fi
  };

fenceFloor:
  atomic {
    if
#ifndef NO_FLOOR_READ
    :: floor > position + 1 -> printf("W%d garbage %d\n", self, position + 1); goto fenceGarbage
#endif
    :: else ->
         printf("W%d fenced %d\n", self, position + 1);
         assert(first[position + 1] == entry);
         assert(!isMisled);
         position++; epoch++; goto write
    fi
  };

fenceGarbage:
  atomic { printf("W%d delete %d\n", self, position + 1); slot[position + 1] = 0; goto restore };

start:                  /* A restarted writer compares its position with the chain. */
  if
  :: position + 1 >= SLOTS -> goto end
  :: else
  fi;
  atomic {
    entry = slot[position + 1];
    printf("W%d compare %d %d\n", self, position + 1, entry);
    if
    :: entry == 0 -> goto startFloor
    :: entry == ENTRY(self, epoch) -> goto startAdopt
#ifdef NO_EPOCH
    :: entry != 0 && entry != ENTRY(self, epoch) ->
         isStale = true; position++; goto start
#else
    :: entry != 0 && entry != ENTRY(self, epoch) -> printf("W%d end\n", self); goto end
#endif
    fi
  };

startAdopt:
  atomic {
    if
    :: floor > position + 1 -> printf("W%d end\n", self); goto end
    :: else -> assert(first[position + 1] == entry); position++; goto start
    fi
  };

startFloor:
  atomic {
    if
    :: floor > position + 1 -> printf("W%d end\n", self); goto end
    :: else -> printf("W%d ready %d\n", self, position); goto write
    fi
  };

write:
  if
  :: position + 1 >= SLOTS -> goto end
  :: atomic { position > base -> base = position; printf("W%d base %d\n", self, position) };
     goto write
  :: atomic { crashes < CRASHES -> crashes++; printf("W%d start %d\n", self, position) }; goto start
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
         :: printf("W%d put %d %d stored\n", self, position + 1, entry);
            store(position + 1, entry); goto writeFloor
         :: printf("W%d put %d %d lost\n", self, position + 1, entry);
            store(position + 1, entry); goto lost
         :: giveUp(position + 1, entry); goto lost
         fi
    :: slot[position + 1] != 0 -> printf("W%d put %d %d exists\n", self, position + 1, entry); goto taken
    fi
  };

lost:
  if
  :: goto put
  :: atomic { crashes < CRASHES -> crashes++; printf("W%d start %d\n", self, position) }; goto start
  fi;

taken:
  atomic {
    printf("W%d get %d %d\n", self, position + 1, slot[position + 1]);
    if
#ifdef WRONG_412
    :: true -> goto writeFloor
#else
    :: slot[position + 1] == entry || slot[position + 1] == 0 -> goto writeFloor
    :: else -> printf("W%d end\n", self); goto end                                  /* fenced */
#endif
    fi
  };

writeFloor:
  atomic {
    if
#ifndef NO_FLOOR_READ
    :: floor > position + 1 -> printf("W%d garbage %d\n", self, position + 1); goto garbage
#endif
    :: else ->
         printf("W%d committed %d\n", self, position + 1);
         assert(first[position + 1] == entry);
         if
         :: position++; goto write
         :: crashes < CRASHES ->                         /* acknowledged, but not remembered */
              crashes++; printf("W%d start %d\n", self, position); goto start
         fi
    fi
  };

garbage:
  atomic { printf("W%d delete %d\n", self, position + 1); slot[position + 1] = 0 };

end:
  skip
}

/* Executes requests whose writers have long abandoned them. */
proctype Network() {
#define LATE(i) atomic { lateSlot[i] != 0 -> \
    printf("N late %d %d\n", lateSlot[i], lateEntry[i]); \
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
  :: runs < COLLECTIONS && IS_DUE ->
       runs++;
       d_step { target = base; known = floor; printf("C begin %d\n", target) };
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
            :: atomic { floor == known -> floor = target; printf("C floor %d\n", target) }
            :: floor != known -> target = 0
            fi;
#endif
            i = 0;
            do
            :: i < target ->
                 atomic {
                   assert(i < floor); assert(base >= floor);
                   printf("C delete %d\n", i); slot[i] = 0; i++
                 }
            :: else -> break
            od
#endif
       :: else
       fi;
       atomic { i = 0; target = 0; known = 0 }
  :: runs == COLLECTIONS || !IS_RANDOM -> break
  od
}

proctype Follower() {
  byte position, entry;
end:
  do
  :: position + 1 < SLOTS ->
       atomic { entry = slot[position + 1]; printf("F read %d %d\n", position + 1, entry) };
       if
#ifdef TRUSTING_READER
       :: entry != 0 -> assert(first[position + 1] == entry); position++
#else
       :: atomic { entry != 0 && floor <= position + 1 ->
            printf("F apply %d\n", position + 1);
            assert(first[position + 1] == entry); position++ }
#endif
       :: atomic { floor > position + 1 -> position = base; printf("F swap %d\n", position) }
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
    run Writer(0, true) WEIGHT(1);
    byte i = 1;
    do
    :: i < WRITERS -> run Writer(i, false) WEIGHT(6); i++
    :: else -> break
    od;
    run Network() WEIGHT(1);
    run Collector() WEIGHT(20);
#ifdef ONE_FLOOR
    run Collector();
#endif
    run Follower() WEIGHT(1)
  }
}
