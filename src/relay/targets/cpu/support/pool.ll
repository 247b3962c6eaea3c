; The thread pool: parallel loops on Linux, by workers that spin for a while and then sleep on a futex.
;
; A *region* is one call of relay_parallel_for. Its caller takes the lock, publishes the loop, opens the gate and works
; itself. A worker that sees a new epoch enters through the gate if it is still open, takes chunks of iterations until
; there are none, and leaves. The caller, when there are no more chunks, shuts the gate and waits only for those inside:
; a worker that slept through a short region costs nothing.
;
; Who finds the lock taken (another thread's region, or one from inside a region) runs its loop alone. All state is in
; a page that the kernel wipes in a forked child, which therefore starts with no workers and no lock held.

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
  i64,        ;  9 next iteration that nobody has taken
  [7 x i64],
  ptr,        ; 11 function (context, begin, end)
  ptr,        ; 12 context
  i64,        ; 13 count of iterations
  i64,        ; 14 iterations in a chunk
  i32         ; 15 workers that may enter: those of smaller number
}

@relay.page = internal global ptr null
@relay.threads = internal global i32 $threads     ; at most so many, 0: as many as processors
@relay.pinning = internal global i32 $pinning     ; 1: each worker stays on a processor of its own

declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare i32 @madvise(ptr, i64, i32)
declare i64 @syscall(i64, ...)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)
declare i32 @sched_yield()
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i32 @llvm.smin.i32(i32, i32)
$pause_declaration

; The page of the pool's state, made by the first who asks; null when the system has no such pages.
define internal ptr @relay.pool() nounwind {
entry:
  %known = load atomic ptr, ptr @relay.page acquire, align 8
  %have = icmp ne ptr %known, null
  br i1 %have, label %return, label %make
return:
  ret ptr %known
make:
  ; PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS
  %page = call ptr @mmap(ptr null, i64 4096, i32 3, i32 34, i32 -1, i64 0)
  %bits = ptrtoint ptr %page to i64
  %refused = icmp eq i64 %bits, -1
  br i1 %refused, label %none, label %advise
advise:
  ; MADV_WIPEONFORK
  %code = call i32 @madvise(ptr %page, i64 4096, i32 18)
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
  %ignored = call i32 @munmap(ptr %page, i64 4096)
  ret ptr %winner
drop:
  %ignored2 = call i32 @munmap(ptr %page, i64 4096)
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
  ret i32 %threads
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

; Whether workers that are started from now on each stay on a processor of their own.
define void @relay_set_pinning(i32 %on) nounwind {
  store atomic i32 %on, ptr @relay.pinning monotonic, align 4
  ret void
}

define void @relay_parallel_for(ptr %function, ptr %context, i64 %count, i64 %grain) nounwind {
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
  ; four chunks for each thread even out what runs unevenly
  %team = add i32 %workers, 1
  %team.wide = zext i32 %team to i64
  %parts = shl i64 %team.wide, 2
  %parts.less = sub i64 %parts, 1
  %raised = add i64 %count, %parts.less
  %even = sdiv i64 %raised, %parts
  %chunk = call i64 @llvm.smax.i64(i64 %even, i64 %grain)
  %next = getelementptr %pool, ptr %pool, i64 0, i32 9
  store atomic i64 0, ptr %next monotonic, align 8
  %function.field = getelementptr %pool, ptr %pool, i64 0, i32 11
  store ptr %function, ptr %function.field
  %context.field = getelementptr %pool, ptr %pool, i64 0, i32 12
  store ptr %context, ptr %context.field
  %count.field = getelementptr %pool, ptr %pool, i64 0, i32 13
  store i64 %count, ptr %count.field
  %chunk.field = getelementptr %pool, ptr %pool, i64 0, i32 14
  store i64 %chunk, ptr %chunk.field
  %limit.field = getelementptr %pool, ptr %pool, i64 0, i32 15
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
  ; FUTEX_WAKE_PRIVATE
  %woken = call i64 (i64, ...) @syscall(i64 $futex, ptr %epoch, i32 129, i32 2147483647, ptr null, ptr null, i32 0)
  br label %work
work:
  call void @relay.run_chunks(ptr %pool)
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

; Take chunks of the published loop until there are none.
define internal void @relay.run_chunks(ptr %pool) nounwind {
entry:
  %function.field = getelementptr %pool, ptr %pool, i64 0, i32 11
  %function = load ptr, ptr %function.field
  %context.field = getelementptr %pool, ptr %pool, i64 0, i32 12
  %context = load ptr, ptr %context.field
  %count.field = getelementptr %pool, ptr %pool, i64 0, i32 13
  %count = load i64, ptr %count.field
  %chunk.field = getelementptr %pool, ptr %pool, i64 0, i32 14
  %chunk = load i64, ptr %chunk.field
  %next = getelementptr %pool, ptr %pool, i64 0, i32 9
  br label %take
take:
  %begin = atomicrmw add ptr %next, i64 %chunk monotonic
  %left = icmp slt i64 %begin, %count
  br i1 %left, label %run, label %done
run:
  %rest = sub i64 %count, %begin
  %length = call i64 @llvm.smin.i64(i64 %rest, i64 %chunk)
  %end = add i64 %begin, %length
  call void %function(ptr %context, i64 %begin, i64 %end)
  br label %take
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
  ; workers take no signals: those are the business of the program's own threads
  %all = alloca [128 x i8]
  %before = alloca [128 x i8]
  %thread = alloca i64
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 128, i1 false)
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
  %detached = call i32 @pthread_detach(i64 %id)
  %number.next = add i32 %number, 1
  %more = icmp slt i32 %number.next, %wanted
  br i1 %more, label %start, label %finish
finish:
  %total = phi i32 [ %number, %start ], [ %number.next, %started ]
  %restored = call i32 @pthread_sigmask(i32 2, ptr %before, ptr null)
  store i32 %total, ptr %field
  ret i32 %total
}

define internal ptr @relay.worker(ptr %argument) nounwind {
entry:
  %wide = ptrtoint ptr %argument to i64
  %number = trunc i64 %wide to i32
  %pinning = load atomic i32, ptr @relay.pinning monotonic, align 4
  %pin = icmp ne i32 %pinning, 0
  br i1 %pin, label %settle, label %begin
settle:
  call void @relay.pin(i32 %number)
  br label %begin
begin:
  %pool = load atomic ptr, ptr @relay.page acquire, align 8
  %epoch = getelementptr %pool, ptr %pool, i64 0, i32 4
  %sleepers = getelementptr %pool, ptr %pool, i64 0, i32 5
  %gate = getelementptr %pool, ptr %pool, i64 0, i32 7
  %limit.field = getelementptr %pool, ptr %pool, i64 0, i32 15
  br label %idle
idle:
  %seen = phi i32 [ 0, %begin ], [ %now, %late ], [ %now, %leave ]
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
  call void @relay.run_chunks(ptr %pool)
  br label %leave
leave:
  %out = atomicrmw sub ptr %gate, i32 1 release
  br label %idle
late:
  br label %idle
}

; Stay on the processor that comes `number` + 1 places after the first that the process may use.
define internal void @relay.pin(i32 %number) nounwind {
entry:
  %set = alloca [16 x i64]
  %one = alloca [16 x i64]
  call void @llvm.memset.p0.i64(ptr %set, i8 0, i64 128, i1 false)
  call void @llvm.memset.p0.i64(ptr %one, i8 0, i64 128, i1 false)
  %got = call i32 @sched_getaffinity(i32 0, i64 128, ptr %set)
  br label %scan
scan:
  %cpu = phi i64 [ 0, %entry ], [ %cpu.next, %next ]
  %found = phi i32 [ 0, %entry ], [ %found.next, %next ]
  %index = lshr i64 %cpu, 6
  %bit = and i64 %cpu, 63
  %mask = shl i64 1, %bit
  %at = getelementptr i64, ptr %set, i64 %index
  %word = load i64, ptr %at
  %hit = and i64 %word, %mask
  %is = icmp ne i64 %hit, 0
  %add = zext i1 %is to i32
  %found.next = add i32 %found, %add
  %target = add i32 %number, 2
  %here = icmp eq i32 %found.next, %target
  br i1 %here, label %stay, label %next
next:
  %cpu.next = add i64 %cpu, 1
  %more = icmp ult i64 %cpu.next, 1024
  br i1 %more, label %scan, label %done
stay:
  %slot = getelementptr i64, ptr %one, i64 %index
  store i64 %mask, ptr %slot
  %pinned = call i32 @sched_setaffinity(i32 0, i64 128, ptr %one)
  br label %done
done:
  ret void
}
