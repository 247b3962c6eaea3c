; The dead stay dead: their memory is poisoned (odd words, wild addresses) and not used again before the call ends, and
; who counts or reads them is counted. For finding errors of the compiler (`-heap=checked`).

@relay.heap.misuses = internal global i64 0

define internal void @relay_heap_watch(ptr %object) noinline nounwind {
entry:
  %count = load i64, ptr %object
  %alive = icmp sgt i64 %count, 0
  br i1 %alive, label %fine, label %misused
misused:
  %before = atomicrmw add ptr @relay.heap.misuses, i64 1 acq_rel
  store i64 1152921504606846976, ptr %object
  br label %fine
fine:
  ret void
}

define internal void @relay_heap_give_back(ptr %heap, ptr %dead) noinline nounwind {
  store i64 -1152921504606846976, ptr %dead
  %class.slot = getelementptr i8, ptr %dead, i64 16
  %class = load i64, ptr %class.slot
  %small = icmp ule i64 %class, 16
  %units = shl i64 %class, 6
  %exponent = sub i64 %class, 6
  %power = shl i64 1, %exponent
  %bytes = select i1 %small, i64 %units, i64 %power
  %inside = sub i64 %bytes, 24
  %fields = getelementptr i8, ptr %dead, i64 24
  call void @llvm.memset.p0.i64(ptr %fields, i8 91, i64 %inside, i1 false)
  ret void
}

; How often the dead were used in this process.
define i64 @relay_heap_misuses() nounwind {
  %count = load atomic i64, ptr @relay.heap.misuses acquire, align 8
  ret i64 %count
}
