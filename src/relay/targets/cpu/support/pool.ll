; The thread pool: parallel loops on Linux, by workers that spin for a while and then sleep on a futex.
;
; A *region* is one call of relay_parallel_for. Its caller takes the lock, publishes the loop, opens the gate and works
; itself. A worker that sees a new epoch enters through the gate if it is still open, takes chunks of iterations until
; there are none, and leaves. The caller, when there are no more chunks, shuts the gate and waits only for those inside:
; a worker that slept through a short region costs nothing.
;
; Every thread has a share of the iterations, the same in every region of the same loop: what a loop reads there again
; is still in that processor's own cache. Who is through with its share takes chunks of the others' shares (affinity
; scheduling: Markatos and LeBlanc, "Using Processor Affinity in Loop Scheduling on Shared-Memory Multiprocessors",
; 1992, section 2).
;
; Workers keep off the processor of the caller. The system likes to wake a thread where it was woken from: there it
; would wait for milliseconds while the caller does all the work itself.
;
; Who finds the lock taken (another thread's region, or one from inside a region) runs its loop alone. All state is in
; a page that the kernel wipes in a forked child, which therefore starts with no workers and no lock held.

%share = type {
  i64,        ;  0 next iteration that nobody has taken
  i64,        ;  1 the first that is not of this share
  i64,        ;  2 the thread, a pthread_t; not of the caller
  i64,        ;  3 first and end of the share together where it is taken from its end, else 0
  [4 x i64]
}

%pool = type {
  i32,        ;  0 lock: 1 while a region runs
  i32,        ;  1 workers started
  i32,        ;  2 processors that the process may use, 0 until asked
  [13 x i32],
  i32,        ;  4 epoch: number of regions so far; what workers sleep on
  i32,        ;  5 sleepers
  [14 x i32],
  i32,        ;  7 gate: bit 31 open, the rest the number of workers inside
  [15 x i32],
  ptr,        ;  9 function (context, begin, end)
  ptr,        ; 10 context
  i64,        ; 11 iterations in a chunk
  i32,        ; 12 workers that may enter: those of smaller number
  i32,        ; 13 threads that have a share
  i32,        ; 14 processor that was kept free for the caller when workers were last placed
  [7 x i32],
  [1024 x %share] ; 16 of the caller, then of each worker
}

@relay.page = internal global ptr null
@relay.threads = internal global i32 $threads     ; at most so many, 0: as many as processors
@relay.pinning = internal global i32 $pinning     ; 1: each worker stays on one processor

; What each thread allows loops that it starts, kept under a key that is made when it is first needed.
@relay.limit.once = internal global i32 0
@relay.limit.key = internal global i32 0
@relay.limits = internal global i32 0             ; 1 when there is a key

declare i32 @pthread_once(ptr, ptr)
declare i32 @pthread_key_create(ptr, ptr)
declare i32 @pthread_setspecific(i32, ptr)
declare ptr @pthread_getspecific(i32)
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare i32 @madvise(ptr, i64, i32)
declare i64 @syscall(i64, ...)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_getcpu()
declare i32 @pthread_setaffinity_np(i64, i64, ptr)
declare i32 @sched_yield()
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i32 @llvm.smin.i32(i32, i32)
$pause_declaration

; The pages of the pool's state, made by the first who asks; null when the system has no such pages.
define internal ptr @relay.pool() nounwind {
entry:
  %known = load atomic ptr, ptr @relay.page acquire, align 8
  %have = icmp ne ptr %known, null
  br i1 %have, label %return, label %make
return:
  ret ptr %known
make:
  ; PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS
  %page = call ptr @mmap(ptr null, i64 ptrtoint (ptr getelementptr (%pool, ptr null, i64 1) to i64), i32 3, i32 34, i32 -1, i64 0)
  %bits = ptrtoint ptr %page to i64
  %refused = icmp eq i64 %bits, -1
  br i1 %refused, label %none, label %advise
advise:
  ; MADV_WIPEONFORK
  %code = call i32 @madvise(ptr %page, i64 ptrtoint (ptr getelementptr (%pool, ptr null, i64 1) to i64), i32 18)
  %unknown = icmp ne i32 %code, 0
  br i1 %unknown, label %drop, label %publish
publish:
  %swap = cmpxchg ptr @relay.page, ptr null, ptr %page acq_rel acquire
  %first = extractvalue { ptr, i1 } %swap, 1
  br i1 %first, label %mine, label %theirs
mine:
  ret ptr %page
theirs:
  %winner = extractvalue { ptr, i1 } %swap, 0
  %ignored = call i32 @munmap(ptr %page, i64 ptrtoint (ptr getelementptr (%pool, ptr null, i64 1) to i64))
  ret ptr %winner
drop:
  %ignored2 = call i32 @munmap(ptr %page, i64 ptrtoint (ptr getelementptr (%pool, ptr null, i64 1) to i64))
  ret ptr null
none:
  ret ptr null
}

; How many processors the process may use, at least 1.
define internal i32 @relay.processors(ptr %pool) nounwind {
entry:
  %field = getelementptr %pool, ptr %pool, i64 0, i32 2
  %known = load atomic i32, ptr %field monotonic, align 4
  %have = icmp ne i32 %known, 0
  br i1 %have, label %return, label %ask
return:
  ret i32 %known
ask:
  %set = alloca [16 x i64]
  call void @llvm.memset.p0.i64(ptr %set, i8 0, i64 128, i1 false)
  %ignored = call i32 @sched_getaffinity(i32 0, i64 128, ptr %set)
  br label %word
word:
  %i = phi i64 [ 0, %ask ], [ %i.next, %word ]
  %sum = phi i64 [ 0, %ask ], [ %sum.next, %word ]
  %at = getelementptr i64, ptr %set, i64 %i
  %bits = load i64, ptr %at
  %ones = call i64 @llvm.ctpop.i64(i64 %bits)
  %sum.next = add i64 %sum, %ones
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, 16
  br i1 %more, label %word, label %counted
counted:
  %one = call i64 @llvm.smax.i64(i64 %sum.next, i64 1)
  %result = trunc i64 %one to i32
  store atomic i32 %result, ptr %field monotonic, align 4
  ret i32 %result
}

define internal i32 @relay.threads_of(ptr %pool) nounwind {
  %processors = call i32 @relay.processors(ptr %pool)
  %wanted = load atomic i32, ptr @relay.threads monotonic, align 4
  %all = icmp sle i32 %wanted, 0
  %less = call i32 @llvm.smin.i32(i32 %wanted, i32 %processors)
  %threads = select i1 %all, i32 %processors, i32 %less
  %limits = load atomic i32, ptr @relay.limits acquire, align 4
  %limited = icmp ne i32 %limits, 0
  br i1 %limited, label %ask, label %done
ask:
  %key = load i32, ptr @relay.limit.key
  %kept = call ptr @pthread_getspecific(i32 %key)
  %number = ptrtoint ptr %kept to i64
  %limit = trunc i64 %number to i32
  %own = icmp sgt i32 %limit, 0
  %fewer = call i32 @llvm.smin.i32(i32 %limit, i32 %threads)
  %result = select i1 %own, i32 %fewer, i32 %threads
  ret i32 %result
done:
  ret i32 %threads
}

define internal void @relay.make_limit_key() nounwind {
  %code = call i32 @pthread_key_create(ptr @relay.limit.key, ptr null)
  %made = icmp eq i32 %code, 0
  %flag = zext i1 %made to i32
  store atomic i32 %flag, ptr @relay.limits release, align 4
  ret void
}

; At most `count` threads for loops that the calling thread starts from now on; 0 for no limit of its own.
define void @relay_limit_threads(i32 %count) nounwind {
  %code = call i32 @pthread_once(ptr @relay.limit.once, ptr @relay.make_limit_key)
  %limits = load atomic i32, ptr @relay.limits acquire, align 4
  %can = icmp ne i32 %limits, 0
  br i1 %can, label %keep, label %done
keep:
  %key = load i32, ptr @relay.limit.key
  %number = zext i32 %count to i64
  %kept = inttoptr i64 %number to ptr
  %ignored = call i32 @pthread_setspecific(i32 %key, ptr %kept)
  br label %done
done:
  ret void
}

; How many threads a parallel loop uses, the caller's included.
define i32 @relay_num_threads() nounwind {
entry:
  %pool = call ptr @relay.pool()
  %none = icmp eq ptr %pool, null
  br i1 %none, label %serial, label %ask
serial:
  ret i32 1
ask:
  %threads = call i32 @relay.threads_of(ptr %pool)
  ret i32 %threads
}

; At most `count` threads from now on; 0 for as many as there are processors. The processors are counted again.
define void @relay_set_num_threads(i32 %count) nounwind {
entry:
  store atomic i32 %count, ptr @relay.threads monotonic, align 4
  %pool = load atomic ptr, ptr @relay.page acquire, align 8
  %none = icmp eq ptr %pool, null
  br i1 %none, label %done, label %forget
forget:
  %field = getelementptr %pool, ptr %pool, i64 0, i32 2
  store atomic i32 0, ptr %field monotonic, align 4
  br label %done
done:
  ret void
}

; Whether workers that are started from now on each stay on one processor, a different one each.
define void @relay_set_pinning(i32 %on) nounwind {
  store atomic i32 %on, ptr @relay.pinning monotonic, align 4
  ret void
}

; Run function(context, begin, end) for parts of `count` iterations, of at least `grain`. With `backwards` not 0 each thread
; takes the parts of its share from the last to the first.
define void @relay_parallel_for(ptr %function, ptr %context, i64 %count, i64 %grain, i64 %backwards) nounwind {
entry:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %ask, label %done
ask:
  %single = icmp sle i64 %count, %grain
  br i1 %single, label %serial, label %find
find:
  %pool = call ptr @relay.pool()
  %none = icmp eq ptr %pool, null
  br i1 %none, label %serial, label %threads
threads:
  %threads.count = call i32 @relay.threads_of(ptr %pool)
  %alone = icmp sle i32 %threads.count, 1
  br i1 %alone, label %serial, label %acquire
acquire:
  %lock = getelementptr %pool, ptr %pool, i64 0, i32 0
  %swap = cmpxchg ptr %lock, i32 0, i32 1 acquire monotonic
  %got = extractvalue { i32, i1 } %swap, 1
  br i1 %got, label %hire, label %serial
hire:
  %wanted = sub i32 %threads.count, 1
  %workers = call i32 @relay.hire(ptr %pool, i32 %wanted)
  %nobody = icmp eq i32 %workers, 0
  br i1 %nobody, label %release.serial, label %publish
release.serial:
  store atomic i32 0, ptr %lock release, align 4
  br label %serial
serial:
  call void %function(ptr %context, i64 0, i64 %count)
  br label %done
publish:
  %team = add i32 %workers, 1
  call void @relay.share_out(ptr %pool, i32 %team, i64 %count, i64 %grain, i64 %backwards)
  %function.field = getelementptr %pool, ptr %pool, i64 0, i32 9
  store ptr %function, ptr %function.field
  %context.field = getelementptr %pool, ptr %pool, i64 0, i32 10
  store ptr %context, ptr %context.field
  %limit.field = getelementptr %pool, ptr %pool, i64 0, i32 12
  store atomic i32 %wanted, ptr %limit.field monotonic, align 4
  %gate = getelementptr %pool, ptr %pool, i64 0, i32 7
  store atomic i32 -2147483648, ptr %gate release, align 4
  %epoch = getelementptr %pool, ptr %pool, i64 0, i32 4
  %old = atomicrmw add ptr %epoch, i32 1 seq_cst
  %sleepers = getelementptr %pool, ptr %pool, i64 0, i32 5
  %asleep = load atomic i32, ptr %sleepers seq_cst, align 4
  %wake = icmp ne i32 %asleep, 0
  br i1 %wake, label %call, label %work
call:
  call void @relay.place(ptr %pool, i32 %workers, i32 0)
  ; FUTEX_WAKE_PRIVATE
  %woken = call i64 (i64, ...) @syscall(i64 $futex, ptr %epoch, i32 129, i32 2147483647, ptr null, ptr null, i32 0)
  br label %work
work:
  call void @relay.run_chunks(ptr %pool, i32 0)
  %shut = atomicrmw and ptr %gate, i32 2147483647 acq_rel
  br label %wait
wait:
  %turns = phi i32 [ 0, %work ], [ %turns.next, %rest ]
  %inside = load atomic i32, ptr %gate acquire, align 4
  %empty = icmp eq i32 %inside, 0
  br i1 %empty, label %release, label %relax
relax:
  $pause
  %turns.next = add i32 %turns, 1
  %long = icmp ugt i32 %turns, 2000
  br i1 %long, label %yield, label %rest
yield:
  %ignored = call i32 @sched_yield()
  br label %rest
rest:
  br label %wait
release:
  store atomic i32 0, ptr %lock release, align 4
  br label %done
done:
  ret void
}

; Give each of the `team` threads its share of `count` iterations, all as equal as whole grains can be. A quarter of a
; share is taken at once: that evens out what runs unevenly.
define internal void @relay.share_out(ptr %pool, i32 %team, i64 %count, i64 %grain, i64 %backwards) nounwind {
entry:
  %team.field = getelementptr %pool, ptr %pool, i64 0, i32 13
  store i32 %team, ptr %team.field
  %threads = zext i32 %team to i64
  %least = call i64 @llvm.smax.i64(i64 %grain, i64 1)
  %least.less = sub i64 %least, 1
  %raised = add i64 %count, %least.less
  %grains = sdiv i64 %raised, %least
  %parts = shl i64 %threads, 2
  %parts.less = sub i64 %parts, 1
  %grains.raised = add i64 %grains, %parts.less
  %together = sdiv i64 %grains.raised, %parts
  %chunk = mul i64 %together, %least
  %chunk.field = getelementptr %pool, ptr %pool, i64 0, i32 11
  store i64 %chunk, ptr %chunk.field
  %turned = icmp ne i64 %backwards, 0
  br label %give
give:
  %thread = phi i64 [ 0, %entry ], [ %thread.next, %give ]
  %begin = phi i64 [ 0, %entry ], [ %end, %give ]
  %thread.next = add i64 %thread, 1
  %scaled = mul i64 %thread.next, %grains
  %through = sdiv i64 %scaled, %threads
  %bound = mul i64 %through, %least
  %end = call i64 @llvm.smin.i64(i64 %bound, i64 %count)
  %next.field = getelementptr %pool, ptr %pool, i64 0, i32 16, i64 %thread, i32 0
  store atomic i64 %begin, ptr %next.field monotonic, align 8
  %end.field = getelementptr %pool, ptr %pool, i64 0, i32 16, i64 %thread, i32 1
  store i64 %end, ptr %end.field
  %sum = add i64 %begin, %end
  %mirror = select i1 %turned, i64 %sum, i64 0
  %mirror.field = getelementptr %pool, ptr %pool, i64 0, i32 16, i64 %thread, i32 3
  store i64 %mirror, ptr %mirror.field
  %more = icmp slt i64 %thread.next, %threads
  br i1 %more, label %give, label %done
done:
  ret void
}

; Take chunks of the published loop until there are none: of the share of this thread, then of those of the others.
define internal void @relay.run_chunks(ptr %pool, i32 %own) nounwind {
entry:
  %function.field = getelementptr %pool, ptr %pool, i64 0, i32 9
  %function = load ptr, ptr %function.field
  %context.field = getelementptr %pool, ptr %pool, i64 0, i32 10
  %context = load ptr, ptr %context.field
  %chunk.field = getelementptr %pool, ptr %pool, i64 0, i32 11
  %chunk = load i64, ptr %chunk.field
  %team.field = getelementptr %pool, ptr %pool, i64 0, i32 13
  %team = load i32, ptr %team.field
  br label %share
share:
  %whose = phi i32 [ %own, %entry ], [ %whose.next, %through ]
  %visited = phi i32 [ 0, %entry ], [ %visited.next, %through ]
  %index = zext i32 %whose to i64
  %next = getelementptr %pool, ptr %pool, i64 0, i32 16, i64 %index, i32 0
  %end.field = getelementptr %pool, ptr %pool, i64 0, i32 16, i64 %index, i32 1
  %end = load i64, ptr %end.field
  %mirror.field = getelementptr %pool, ptr %pool, i64 0, i32 16, i64 %index, i32 3
  %mirror = load i64, ptr %mirror.field
  %turned = icmp ne i64 %mirror, 0
  br label %look
look:
  ; a share that is empty is not written to
  %seen = load atomic i64, ptr %next monotonic, align 8
  %some = icmp slt i64 %seen, %end
  br i1 %some, label %take, label %through
take:
  %begin = atomicrmw add ptr %next, i64 %chunk monotonic
  %left = icmp slt i64 %begin, %end
  br i1 %left, label %run, label %through
run:
  %rest = sub i64 %end, %begin
  %length = call i64 @llvm.smin.i64(i64 %rest, i64 %chunk)
  %stop = add i64 %begin, %length
  %other.begin = sub i64 %mirror, %stop
  %other.stop = sub i64 %mirror, %begin
  %from = select i1 %turned, i64 %other.begin, i64 %begin
  %to = select i1 %turned, i64 %other.stop, i64 %stop
  call void %function(ptr %context, i64 %from, i64 %to)
  br label %look
through:
  %visited.next = add i32 %visited, 1
  %after = add i32 %whose, 1
  %wraps = icmp eq i32 %after, %team
  %whose.next = select i1 %wraps, i32 0, i32 %after
  %others = icmp ult i32 %visited.next, %team
  br i1 %others, label %share, label %done
done:
  ret void
}

; Start workers until there are `wanted`, and say how many there are. Called with the lock held.
define internal i32 @relay.hire(ptr %pool, i32 %wanted) nounwind {
entry:
  %field = getelementptr %pool, ptr %pool, i64 0, i32 1
  %have = load i32, ptr %field
  %enough = icmp sge i32 %have, %wanted
  br i1 %enough, label %return, label %prepare
return:
  %usable = call i32 @llvm.smin.i32(i32 %have, i32 %wanted)
  ret i32 %usable
prepare:
  ; workers take no signals: those are the business of the program's own threads, but for what a thread does itself:
  ; SIGILL 4, SIGTRAP 5, SIGBUS 7 (see mapped.ll), SIGFPE 8 and SIGSEGV 11 (signal n is bit n-1)
  %all = alloca [128 x i8]
  %before = alloca [128 x i8]
  %thread = alloca i64
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 128, i1 false)
  store i64 -1241, ptr %all
  %masked = call i32 @pthread_sigmask(i32 2, ptr %all, ptr %before)
  br label %start
start:
  %number = phi i32 [ %have, %prepare ], [ %number.next, %started ]
  %wide = zext i32 %number to i64
  %argument = inttoptr i64 %wide to ptr
  %code = call i32 @pthread_create(ptr %thread, ptr null, ptr @relay.worker, ptr %argument)
  %failed = icmp ne i32 %code, 0
  br i1 %failed, label %finish, label %started
started:
  %id = load i64, ptr %thread
  %slot = add i64 %wide, 1
  %thread.field = getelementptr %pool, ptr %pool, i64 0, i32 16, i64 %slot, i32 2
  store i64 %id, ptr %thread.field
  %detached = call i32 @pthread_detach(i64 %id)
  %number.next = add i32 %number, 1
  %more = icmp slt i32 %number.next, %wanted
  br i1 %more, label %start, label %finish
finish:
  %total = phi i32 [ %number, %start ], [ %number.next, %started ]
  %restored = call i32 @pthread_sigmask(i32 2, ptr %before, ptr null)
  store i32 %total, ptr %field
  call void @relay.place(ptr %pool, i32 %total, i32 1)
  ret i32 %total
}

define internal ptr @relay.worker(ptr %argument) nounwind {
entry:
  %wide = ptrtoint ptr %argument to i64
  %number = trunc i64 %wide to i32
  %own = add i32 %number, 1
  %pool = load atomic ptr, ptr @relay.page acquire, align 8
  %epoch = getelementptr %pool, ptr %pool, i64 0, i32 4
  %sleepers = getelementptr %pool, ptr %pool, i64 0, i32 5
  %gate = getelementptr %pool, ptr %pool, i64 0, i32 7
  %limit.field = getelementptr %pool, ptr %pool, i64 0, i32 12
  br label %idle
idle:
  %seen = phi i32 [ 0, %entry ], [ %now, %late ], [ %now, %leave ]
  br label %spin
spin:
  %turns = phi i32 [ 0, %idle ], [ %turns.next, %relax ], [ 0, %woken ]
  %now = load atomic i32, ptr %epoch acquire, align 4
  %same = icmp eq i32 %now, %seen
  br i1 %same, label %relax.check, label %arrive
relax.check:
  %tired = icmp ugt i32 %turns, $spins
  br i1 %tired, label %sleep, label %relax
relax:
  $pause
  %turns.next = add i32 %turns, 1
  br label %spin
sleep:
  %s0 = atomicrmw add ptr %sleepers, i32 1 seq_cst
  ; FUTEX_WAIT_PRIVATE: returns at once if the epoch has changed
  %slept = call i64 (i64, ...) @syscall(i64 $futex, ptr %epoch, i32 128, i32 %seen, ptr null, ptr null, i32 0)
  %s1 = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  br label %woken
woken:
  br label %spin
arrive:
  %limit = load atomic i32, ptr %limit.field monotonic, align 4
  %mine = icmp slt i32 %number, %limit
  br i1 %mine, label %look, label %late
look:
  %first = load atomic i32, ptr %gate monotonic, align 4
  br label %enter
enter:
  %state = phi i32 [ %first, %look ], [ %state.new, %retry ]
  %open = icmp slt i32 %state, 0
  br i1 %open, label %try, label %late
try:
  %in = add i32 %state, 1
  %swap = cmpxchg ptr %gate, i32 %state, i32 %in acquire monotonic
  %entered = extractvalue { i32, i1 } %swap, 1
  br i1 %entered, label %work, label %retry
retry:
  %state.new = extractvalue { i32, i1 } %swap, 0
  br label %enter
work:
  call void @relay.run_chunks(ptr %pool, i32 %own)
  br label %leave
leave:
  %out = atomicrmw sub ptr %gate, i32 1 release
  br label %idle
late:
  br label %idle
}

; Let the workers run on the processors that the process may use but for the caller's: on all of them, or each worker on
; one when they are pinned. Without `anew` only if the caller has moved since the last time. Called with the lock held.
define internal void @relay.place(ptr %pool, i32 %workers, i32 %anew) nounwind {
entry:
  %free.field = getelementptr %pool, ptr %pool, i64 0, i32 14
  %before = load i32, ptr %free.field
  %cpu = call i32 @sched_getcpu()
  %moved = icmp ne i32 %cpu, %before
  %asked = icmp ne i32 %anew, 0
  %due = or i1 %moved, %asked
  %number = zext i32 %cpu to i64
  %known = icmp ult i64 %number, 1024
  %possible = and i1 %due, %known
  br i1 %possible, label %read, label %done
read:
  %others = alloca [16 x i64]
  %one = alloca [16 x i64]
  call void @llvm.memset.p0.i64(ptr %others, i8 0, i64 128, i1 false)
  %got = call i32 @sched_getaffinity(i32 0, i64 128, ptr %others)
  %failed = icmp ne i32 %got, 0
  br i1 %failed, label %done, label %reserve
reserve:
  store i32 %cpu, ptr %free.field
  %own.index = lshr i64 %number, 6
  %own.bit = and i64 %number, 63
  %own.mask = shl i64 1, %own.bit
  %own.inverse = xor i64 %own.mask, -1
  %own.word = getelementptr i64, ptr %others, i64 %own.index
  %with = load i64, ptr %own.word
  %without = and i64 %with, %own.inverse
  store i64 %without, ptr %own.word
  %pinning = load atomic i32, ptr @relay.pinning monotonic, align 4
  %pinned = icmp ne i32 %pinning, 0
  br label %worker
worker:
  %slot = phi i64 [ 1, %reserve ], [ %slot.next, %placed ]
  %last = phi i64 [ -1, %reserve ], [ %last.next, %placed ]
  %thread.field = getelementptr %pool, ptr %pool, i64 0, i32 16, i64 %slot, i32 2
  %thread = load i64, ptr %thread.field
  br i1 %pinned, label %scan, label %everywhere
everywhere:
  %ignored = call i32 @pthread_setaffinity_np(i64 %thread, i64 128, ptr %others)
  br label %placed
scan:
  ; the next processor after that of the worker before
  %at.before = phi i64 [ %last, %worker ], [ %at, %no ]
  %at = add i64 %at.before, 1
  %inside = icmp ult i64 %at, 1024
  br i1 %inside, label %test, label %done
test:
  %index = lshr i64 %at, 6
  %bit = and i64 %at, 63
  %mask = shl i64 1, %bit
  %word.field = getelementptr i64, ptr %others, i64 %index
  %word = load i64, ptr %word.field
  %hit = and i64 %word, %mask
  %here = icmp ne i64 %hit, 0
  br i1 %here, label %stay, label %no
no:
  br label %scan
stay:
  call void @llvm.memset.p0.i64(ptr %one, i8 0, i64 128, i1 false)
  %one.word = getelementptr i64, ptr %one, i64 %index
  store i64 %mask, ptr %one.word
  %ignored2 = call i32 @pthread_setaffinity_np(i64 %thread, i64 128, ptr %one)
  br label %placed
placed:
  %last.next = phi i64 [ %last, %everywhere ], [ %at, %stay ]
  %slot.next = add i64 %slot, 1
  %number.wide = zext i32 %workers to i64
  %more = icmp ule i64 %slot.next, %number.wide
  br i1 %more, label %worker, label %done
done:
  ret void
}
