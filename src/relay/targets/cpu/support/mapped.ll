; Files that native code reads as memory. When one is cut short meanwhile the system has no pages to give, and sends a
; signal that ends the process. Here pages of zeros take their place, and it is noted that what was computed is worth
; nothing: the call ends in an error. Addresses that are nobody's are left to whoever took the signal before.
;
; The numbers are those of Linux on 64-bit machines: SIGBUS is 7, the address stands 16 bytes into what a handler is told,
; a `struct sigaction` is a handler, 128 bytes of mask and 4 of flags (SA_SIGINFO 4, SA_ONSTACK 0x08000000).

%relay.range = type { i64, i64, i64 } ; first byte (0: nobody's, 1: being written), bytes, whether pages were lost

@relay.ranges = internal global [1024 x %relay.range] zeroinitializer
@relay.handles = internal global i32 0
@relay.before = internal global [152 x i8] zeroinitializer, align 8

declare i32 @sigaction(i32, ptr, ptr)
; `mmap` is declared by the pool, which takes stacks from it
declare i32 @getpagesize()

; Watches over `bytes` of memory from `start`. Gives where it is noted that pages were lost (an i64); null when too many
; are watched over already.
define ptr @relay_watch(i64 %start, i64 %bytes) nounwind {
entry:
  %first = cmpxchg ptr @relay.handles, i32 0, i32 1 acq_rel acquire
  %is.first = extractvalue { i32, i1 } %first, 1
  br i1 %is.first, label %install, label %next
install:
  %action = alloca [152 x i8], align 8
  call void @llvm.memset.p0.i64(ptr %action, i8 0, i64 152, i1 false)
  store ptr @relay.lost, ptr %action
  %flags = getelementptr i8, ptr %action, i64 136
  store i32 134217732, ptr %flags
  %installed = call i32 @sigaction(i32 7, ptr %action, ptr @relay.before)
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ 0, %install ], [ %i.after, %other ]
  %more = icmp ult i64 %i, 1024
  br i1 %more, label %try, label %none
try:
  %range = getelementptr %relay.range, ptr @relay.ranges, i64 %i
  %taken = cmpxchg ptr %range, i64 0, i64 1 acq_rel acquire
  %is.mine = extractvalue { i64, i1 } %taken, 1
  br i1 %is.mine, label %mine, label %other
other:
  %i.after = add i64 %i, 1
  br label %next
mine:
  %size.slot = getelementptr i8, ptr %range, i64 8
  store i64 %bytes, ptr %size.slot
  %lost.slot = getelementptr i8, ptr %range, i64 16
  store i64 0, ptr %lost.slot
  store atomic i64 %start, ptr %range release, align 8
  ret ptr %lost.slot
none:
  ret ptr null
}

; Watches no longer over what `relay_watch` gave this for.
define void @relay_unwatch(ptr %lost) nounwind {
  %range = getelementptr i8, ptr %lost, i64 -16
  store atomic i64 0, ptr %range release, align 8
  ret void
}

define internal void @relay.lost(i32 %signal, ptr %told, ptr %context) nounwind {
entry:
  %address.slot = getelementptr i8, ptr %told, i64 16
  %address = load i64, ptr %address.slot
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.after, %other ]
  %more = icmp ult i64 %i, 1024
  br i1 %more, label %look, label %others
look:
  %range = getelementptr %relay.range, ptr @relay.ranges, i64 %i
  %start = load atomic i64, ptr %range acquire, align 8
  %size.slot = getelementptr i8, ptr %range, i64 8
  %size = load i64, ptr %size.slot
  %offset = sub i64 %address, %start
  %is.inside = icmp ult i64 %offset, %size
  %is.one = icmp ugt i64 %start, 1
  %is.mine = and i1 %is.inside, %is.one
  br i1 %is.mine, label %mine, label %other
other:
  %i.after = add i64 %i, 1
  br label %next
mine:
  %lost.slot = getelementptr i8, ptr %range, i64 16
  store atomic i64 1, ptr %lost.slot release, align 8
  %page.bytes = call i32 @getpagesize()
  %page.size = sext i32 %page.bytes to i64
  %mask = sub i64 0, %page.size
  %page = and i64 %address, %mask
  %where = inttoptr i64 %page to ptr
  ; PROT_READ; MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS
  %mapped = call ptr @mmap(ptr %where, i64 %page.size, i32 1, i32 50, i32 -1, i64 0)
  %failed = icmp eq ptr %mapped, inttoptr (i64 -1 to ptr)
  br i1 %failed, label %others, label %done
done:
  ret void
others:
  %before = load ptr, ptr @relay.before
  %number = ptrtoint ptr %before to i64
  %is.plain = icmp ult i64 %number, 2 ; SIG_DFL, SIG_IGN: it comes again, and is not ours then
  br i1 %is.plain, label %restore, label %pass
restore:
  %restored = call i32 @sigaction(i32 7, ptr @relay.before, ptr null)
  ret void
pass:
  call void %before(i32 %signal, ptr %told, ptr %context)
  ret void
}
