; Aligned memory, and the slot where native code leaves its first error.

@relay.error = internal global i32 0            ; 0 none, 1 out of memory
@relay.error.detail = internal global i64 0     ; the bytes that could not be had

declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)

; Memory of `bytes`, aligned to 64; null, with the error recorded, when there is none.
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
  store atomic i64 %bytes, ptr @relay.error.detail monotonic, align 8
  store atomic i32 1, ptr @relay.error release, align 4
  ret ptr null
done:
  %memory = load ptr, ptr %slot
  ret ptr %memory
}

define void @relay_free(ptr %memory) nounwind {
  call void @free(ptr %memory)
  ret void
}

; The error since the last call (0: none), and what it is about in *detail. Takes it away.
define i32 @relay_take_error(ptr %detail) nounwind {
  %code = atomicrmw xchg ptr @relay.error, i32 0 acq_rel
  %about = load atomic i64, ptr @relay.error.detail monotonic, align 8
  store i64 %about, ptr %detail
  ret i32 %code
}
