; Where nobody watches over mapped files.

define ptr @relay_watch(i64 %start, i64 %bytes) nounwind {
  ret ptr null
}

define void @relay_unwatch(ptr %lost) nounwind {
  ret void
}
