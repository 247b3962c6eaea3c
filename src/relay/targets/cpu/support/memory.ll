; Aligned memory, and a count of how often there was none.

@relay.failures = internal global i64 0

declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)

; Memory of `bytes`, aligned to 64; null, and one failure more, when there is none.
define ptr @relay_alloc(i64 %bytes) nounwind {
entry:
  %slot = alloca ptr
  store ptr null, ptr %slot
  %small = icmp slt i64 %bytes, 64
  %size = select i1 %small, i64 64, i64 %bytes
  %negative = icmp slt i64 %bytes, 0
  br i1 %negative, label %fail, label %ask
ask:
  %code = call i32 @posix_memalign(ptr %slot, i64 64, i64 %size)
  %bad = icmp ne i32 %code, 0
  br i1 %bad, label %fail, label %done
fail:
  %before = atomicrmw add ptr @relay.failures, i64 1 acq_rel
  ret ptr null
done:
  %memory = load ptr, ptr %slot
  ret ptr %memory
}

define void @relay_free(ptr %memory) nounwind {
  call void @free(ptr %memory)
  ret void
}

; How often memory could not be had in this process. A call during which it grew has no result to trust.
define i64 @relay_allocation_failures() nounwind {
  %count = load atomic i64, ptr @relay.failures acquire, align 8
  ret i64 %count
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
