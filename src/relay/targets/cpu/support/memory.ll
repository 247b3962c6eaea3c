; Aligned memory, and a count of how often there was none.
;
; A block is preceded by 64 bytes that hold its size. Blocks of some pages that are given back are kept for the next who
; asks for about as much: the system would take them back and clear their pages anew, which takes longer than many a
; kernel. A few are kept, none of them huge.

@relay.failures = internal global i64 0
@relay.kept = internal global [8 x ptr] zeroinitializer       ; blocks that nobody has
@relay.kept.bytes = internal global [8 x i64] zeroinitializer ; about how large each is: the block itself knows
@relay.kept.next = internal global i64 0                      ; which makes room when there is none

declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)

; Memory of `bytes`, aligned to 64; null, and one failure more, when there is none.
define ptr @relay_alloc(i64 %bytes) nounwind {
entry:
  %slot = alloca ptr
  store ptr null, ptr %slot
  %possible = icmp ult i64 %bytes, 9223372036854775744
  br i1 %possible, label %measure, label %fail
measure:
  %small = icmp ult i64 %bytes, 64
  %size = select i1 %small, i64 64, i64 %bytes
  %kept = call ptr @relay.take(i64 %size)
  %none = icmp eq ptr %kept, null
  br i1 %none, label %ask, label %done
ask:
  %whole = add i64 %size, 64
  %code = call i32 @posix_memalign(ptr %slot, i64 64, i64 %whole)
  %bad = icmp ne i32 %code, 0
  br i1 %bad, label %fail, label %made
fail:
  %before = atomicrmw add ptr @relay.failures, i64 1 acq_rel
  ret ptr null
made:
  %fresh = load ptr, ptr %slot
  store i64 %size, ptr %fresh
  br label %done
done:
  %block = phi ptr [ %kept, %measure ], [ %fresh, %made ]
  %memory = getelementptr i8, ptr %block, i64 64
  ret ptr %memory
}

define void @relay_free(ptr %memory) nounwind {
entry:
  %nothing = icmp eq ptr %memory, null
  br i1 %nothing, label %done, label %give
give:
  %block = getelementptr i8, ptr %memory, i64 -64
  %unwanted = call ptr @relay.keep(ptr %block)
  call void @free(ptr %unwanted)
  br label %done
done:
  ret void
}

; Whether blocks of a size are kept: 4 KiB to 32 MiB.
define internal i1 @relay.is_kept(i64 %size) alwaysinline nounwind {
  %above = sub i64 %size, 4096
  %kept = icmp ule i64 %above, 33550336
  ret i1 %kept
}

; A kept block of `size`, or up to twice as much; null when there is none.
define internal ptr @relay.take(i64 %size) nounwind {
entry:
  %possible = call i1 @relay.is_kept(i64 %size)
  br i1 %possible, label %look, label %none
look:
  %i = phi i64 [ 0, %entry ], [ %i.next, %on ]
  %hint.field = getelementptr [8 x i64], ptr @relay.kept.bytes, i64 0, i64 %i
  %hint = load atomic i64, ptr %hint.field monotonic, align 8
  %hint.more = sub i64 %hint, %size
  %hint.fits = icmp ule i64 %hint.more, %size
  br i1 %hint.fits, label %grab, label %on
grab:
  %field = getelementptr [8 x ptr], ptr @relay.kept, i64 0, i64 %i
  %block = atomicrmw xchg ptr %field, ptr null acquire
  %gone = icmp eq ptr %block, null
  br i1 %gone, label %on, label %check
check:
  %real = load i64, ptr %block
  %more = sub i64 %real, %size
  %fits = icmp ule i64 %more, %size
  br i1 %fits, label %take, label %return
take:
  ret ptr %block
return:
  %unwanted = call ptr @relay.keep(ptr %block)
  call void @free(ptr %unwanted)
  br label %on
on:
  %i.next = add i64 %i, 1
  %again = icmp ult i64 %i.next, 8
  br i1 %again, label %look, label %none
none:
  ret ptr null
}

; Keep a block. Gives one to free: this, where it is of another size, or one that made room; else null.
define internal ptr @relay.keep(ptr %block) nounwind {
entry:
  %size = load i64, ptr %block
  %possible = call i1 @relay.is_kept(i64 %size)
  br i1 %possible, label %look, label %refuse
refuse:
  ret ptr %block
look:
  %i = phi i64 [ 0, %entry ], [ %i.next, %on ]
  %field = getelementptr [8 x ptr], ptr @relay.kept, i64 0, i64 %i
  %there = load atomic ptr, ptr %field monotonic, align 8
  %empty = icmp eq ptr %there, null
  br i1 %empty, label %put, label %on
put:
  %swap = cmpxchg ptr %field, ptr null, ptr %block release monotonic
  %stored = extractvalue { ptr, i1 } %swap, 1
  br i1 %stored, label %tell, label %on
tell:
  %hint.field = getelementptr [8 x i64], ptr @relay.kept.bytes, i64 0, i64 %i
  store atomic i64 %size, ptr %hint.field monotonic, align 8
  ret ptr null
on:
  %i.next = add i64 %i, 1
  %again = icmp ult i64 %i.next, 8
  br i1 %again, label %look, label %replace
replace:
  %turn = atomicrmw add ptr @relay.kept.next, i64 1 monotonic
  %other = and i64 %turn, 7
  %other.field = getelementptr [8 x ptr], ptr @relay.kept, i64 0, i64 %other
  %old = atomicrmw xchg ptr %other.field, ptr %block acq_rel
  %other.hint = getelementptr [8 x i64], ptr @relay.kept.bytes, i64 0, i64 %other
  store atomic i64 %size, ptr %other.hint monotonic, align 8
  ret ptr %old
}

; How often memory could not be had in this process. A call during which it grew has no result to trust.
define i64 @relay_allocation_failures() nounwind {
  %count = load atomic i64, ptr @relay.failures acquire, align 8
  ret i64 %count
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
