; The blocks of the dead are used again: the heap of programs that run.

define internal void @relay_heap_watch(ptr %object) alwaysinline nounwind {
  ret void
}

define internal void @relay_heap_give_back(ptr %heap, ptr %dead) alwaysinline nounwind {
  %class.slot = getelementptr i8, ptr %dead, i64 16
  %class = load i64, ptr %class.slot
  %offset = shl i64 %class, 3
  %lists = getelementptr i8, ptr %heap, i64 64
  %free.slot = getelementptr i8, ptr %lists, i64 %offset
  %free = load ptr, ptr %free.slot
  store ptr %free, ptr %dead
  store ptr %dead, ptr %free.slot
  ret void
}

define i64 @relay_heap_misuses() nounwind {
  ret i64 0
}
